import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/protocol/index.js'
import { sendCode, wrong } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { somebody } from './people.js'

export function describeRefusals({ opened }: Contract): void {
  describe('a no', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    it('that lasts: after ten wrong codes the account is locked, told for how long, and free again after (R23, R27)', async () => {
      const person = somebody()
      const { service } = opened()
      for (let challenge = 1; challenge <= 2; challenge += 1) {
        const { code, verify } = await sendCode(opened(), person, 'sms', person.phone)
        for (const by of [1, 2, 3, 4, 5])
          expect(await verify(wrong(code, by))).toEqual({ outcome: 'invalid' })
      }
      const locked = { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1_800 } }
      const sms = { method: 'sms', contact: person.phone, account: person.account } as const
      expect(await service.send(sms)).toEqual(locked)
      expect(await service.verify({ ...sms, code: '123456', kind: 'code' })).toEqual(locked)
      expect(await service.sendBackupCodes(sms)).toEqual(locked)

      vi.setSystemTime(Date.now() + 1_800_000)
      const { code, verify } = await sendCode(opened(), person, 'sms', person.phone)
      expect(await verify(code)).toEqual({ outcome: 'valid' })
    })

    it('to a method that is not offered', async () => {
      const { phone, account } = somebody()
      const refused = { outcome: 'refused', refusal: { reason: 'method_off' } }
      expect(await opened().service.send({ method: 'whatsapp', contact: phone, account })).toMatchObject(
        refused,
      )
      expect(await opened().service.send({ method: 'call', contact: phone, account })).toMatchObject(refused)
    })

    it.each([
      ['not in use', '+12025550'],
      ['free for who calls and costly for who sends', '+18005550199'],
      ['costly', '+449098790879'],
    ])('to a number that is %s', async (_title, phone) => {
      const { account } = somebody()
      const contact = { kind: 'phone', phone } as const
      const refused = { outcome: 'refused', refusal: { reason: 'contact_refused' } }
      expect(await opened().service.send({ method: 'sms', contact, account })).toEqual(refused)
      expect(await opened().service.sendBackupCodes({ method: 'sms', contact, account })).toEqual(refused)
    })

    it('to too many messages, told for how long (R43)', async () => {
      const person = somebody()
      for (let sent = 1; sent <= 5; sent += 1) await sendCode(opened(), person, 'email', person.email)
      const sixth = await opened().service.send({
        method: 'email',
        contact: person.email,
        account: person.account,
      })
      if (sixth.outcome !== 'refused' || sixth.refusal.reason !== 'limited') throw new Error('not limited')
      expect(sixth.refusal.retryAfterSeconds).toBeGreaterThan(60)
    })

    it('is not said to a request that cannot be meant: that is an error', async () => {
      const { service } = opened()
      const { email, phone } = somebody()
      const asked = [
        service.send({ method: 'sms', contact: email }),
        service.send({ method: 'dual', contact: phone }),
        service.send({ method: 'sms', contact: { kind: 'phone', phone: '0770 900' } }),
        service.verify({ method: 'email', contact: phone, code: '123456', kind: 'code' }),
        service.verify({ method: 'sms', contact: phone, code: '1'.repeat(65), kind: 'code' }),
        service.enrollApp({ contact: { kind: 'email', email: 'nobody' } }),
        service.sendBackupCodes({ method: 'dual', contact: email }),
      ]
      for (const outcome of await Promise.allSettled(asked)) {
        expect(outcome).toMatchObject({ reason: { code: 'ERR_MFA_SERVICE_REQUEST' } })
        expect('reason' in outcome && outcome.reason).toBeInstanceOf(ServiceError)
      }
    })
  })
}
