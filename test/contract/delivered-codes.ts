import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Contact,
  type DeliveredMethod,
  formatUser,
  maskContact,
  type Purpose,
} from '../../src/protocol/index.js'
import { codeIn } from '../kit/message-code.js'
import type { Contract, Opened } from './mfa-service.js'
import { type NewUser, newUser } from './new-user.js'

/** A code that differs from this one. */
export function wrong(code: string, by = 1): string {
  return String((Number(code) + by) % 1_000_000).padStart(6, '0')
}

/** Requests a code and reads it; `verify` submits it or another one. */
export async function sendCode(
  { service, inbox }: Opened,
  { account }: NewUser,
  method: DeliveredMethod,
  contact: Contact,
  purpose: Purpose = 'sign-in',
) {
  const sent = await service.send({ method, contact, account, purpose })
  if (sent.outcome === 'refused') throw new Error(`refused: ${sent.refusal.reason}`)
  const to = contact.kind === 'dual' ? contact.phone : formatUser(contact)
  const code = codeIn((await inbox(to))[0])
  const { challenge } = sent
  const verify = (typed: string) =>
    service.verify({ method, contact, code: typed, kind: 'code', account, ...(challenge && { challenge }) })
  return { sent, code, verify, challenge }
}

const valid = { outcome: 'valid' }
const invalid = { outcome: 'invalid' }

export function describeDeliveredCodes({ opened, hasExtras }: Contract): void {
  describe('a delivered code', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    it.each(['email', 'sms', 'dual'] as const)('by %s is valid once (R37)', async (method) => {
      const user = newUser()
      const contact = { email: user.email, sms: user.phone, dual: user.dual }[method]
      const { code, verify, sent } = await sendCode(opened(), user, method, contact)
      expect(sent).toMatchObject({ outcome: 'sent', resendInSeconds: 30 })
      expect(await verify(code)).toEqual(valid)
      expect(await verify(code)).toEqual(invalid)
    })

    it('has a delivery state, for a client that knows its challenge (R46)', async () => {
      const user = newUser()
      const { challenge = '' } = await sendCode(opened(), user, 'sms', user.phone)
      const { service } = opened()
      if (!service.deliveryOf) return expect(hasExtras).toBe(false)
      const to = maskContact(user.phone)
      const state = { status: 'sent', channel: 'sms', to, carrier: 'inbox', updatedAt: expect.any(Number) }
      expect(await service.deliveryOf({ challenge })).toEqual(state)
      expect(await service.deliveryOf({ challenge: 'another/../one' })).toBeUndefined()
    })

    it('by DUAL is the same in both messages', async () => {
      const user = newUser()
      const { code } = await sendCode(opened(), user, 'dual', user.dual)
      const [mail] = await opened().inbox(user.dual.email)
      expect(codeIn(mail)).toBe(code)
    })

    it('is still valid after a wrong one', async () => {
      const user = newUser()
      const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
      expect(await verify(wrong(code))).toEqual(invalid)
      expect(await verify(code)).toEqual(valid)
    })

    it('is accepted once when it is submitted concurrently (R21)', async () => {
      const user = newUser()
      const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
      const verdicts = await Promise.all(Array.from({ length: 5 }, () => verify(code)))
      expect(verdicts.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
    })

    it('is invalid after five wrong ones, even if they arrive at once (R22)', async () => {
      const user = newUser()
      const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
      await Promise.all([1, 2, 3, 4, 5].map((by) => verify(wrong(code, by))))
      expect(await verify(code)).toEqual(invalid)
    })

    it('is still valid after four wrong ones (R22)', async () => {
      const user = newUser()
      const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
      for (const by of [1, 2, 3, 4]) await verify(wrong(code, by))
      expect(await verify(code)).toEqual(valid)
    })

    it('is repeated by a resend, without a longer life or more attempts (R39)', async () => {
      const user = newUser()
      const { service, inbox } = opened()
      const { code, verify, challenge, sent } = await sendCode(opened(), user, 'sms', user.phone)
      const again = { method: 'sms', contact: user.phone, account: user.account, challenge } as const
      for (const by of [1, 2, 3, 4]) await verify(wrong(code, by))
      vi.setSystemTime(Date.now() + 31_000)
      const resent = await service.send({ ...again, challenge: challenge ?? '' })
      expect(resent).toMatchObject({ outcome: 'sent', challenge, resendInSeconds: 60 })
      expect((await inbox(user.phone.phone)).slice(0, 2).map(codeIn)).toEqual([code, code])
      const lives = [sent, resent].map((one) =>
        'expiresInSeconds' in one ? one.expiresInSeconds : undefined,
      )
      expect(lives).toEqual([300, 269])
      expect(await verify(wrong(code, 5))).toEqual(invalid)
      expect(await verify(code)).toEqual(invalid)
    })

    it('is not sent again before the wait is over (R43)', async () => {
      const user = newUser()
      const { challenge } = await sendCode(opened(), user, 'sms', user.phone)
      const again = { method: 'sms', contact: user.phone, account: user.account } as const
      const resent = await opened().service.send({ ...again, challenge: challenge ?? '' })
      expect(resent).toEqual({ outcome: 'refused', refusal: { reason: 'limited', retryAfterSeconds: 30 } })
    })

    it('expires to the second (R36)', async () => {
      const early = newUser()
      const late = newUser()
      const [one, other] = [
        await sendCode(opened(), early, 'sms', early.phone),
        await sendCode(opened(), late, 'sms', late.phone),
      ]
      const start = Date.now()
      vi.setSystemTime(start + 298_000)
      expect(await one.verify(one.code)).toEqual(valid)
      vi.setSystemTime(start + 300_000)
      expect(await other.verify(other.code)).toEqual(invalid)
    })

    it('is valid for no other user and no other challenge (R38)', async () => {
      const [alice, mallory] = [newUser(), newUser()]
      const hers = await sendCode(opened(), alice, 'sms', alice.phone)
      const his = await sendCode(opened(), mallory, 'sms', mallory.phone)
      const { service } = opened()
      const stolen = { method: 'sms', code: hers.code, kind: 'code', account: mallory.account } as const
      const asHis = { ...stolen, contact: mallory.phone, challenge: hers.challenge ?? '' }
      if (hers.code !== his.code) expect(await his.verify(hers.code)).toEqual(invalid)
      expect(await service.verify(asHis)).toEqual(invalid)
      expect(await hers.verify(hers.code)).toEqual(valid)
    })

    if (hasExtras) {
      it('is valid for the purpose that it was sent for, whatever was sent after it (R38)', async () => {
        const user = newUser()
        const signIn = await sendCode(opened(), user, 'sms', user.phone, 'sign-in')
        const stepUp = await sendCode(opened(), user, 'sms', user.phone, 'step-up')
        if (signIn.code !== stepUp.code) expect(await stepUp.verify(signIn.code)).toEqual(invalid)
        expect(await signIn.verify(signIn.code)).toEqual(valid)
        expect(await stepUp.verify(stepUp.code)).toEqual(valid)
      })
    }
  })
}
