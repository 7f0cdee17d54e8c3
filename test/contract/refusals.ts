import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/protocol/index.js'
import { sendCode, wrong } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { newUser } from './new-user.js'

export function describeRefusals({ opened }: Contract): void {
  describe('a refusal', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    it('follows ten wrong codes for a limited time, which it states (R23, R27)', async () => {
      const user = newUser()
      const { service } = opened()
      for (let challenge = 1; challenge <= 2; challenge += 1) {
        const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
        for (const by of [1, 2, 3, 4, 5])
          expect(await verify(wrong(code, by))).toEqual({ outcome: 'invalid' })
      }
      const locked = { outcome: 'refused', refusal: { reason: 'locked', retryAfterSeconds: 1_800 } }
      const sms = { method: 'sms', contact: user.phone, account: user.account } as const
      expect(await service.send(sms)).toEqual(locked)
      expect(await service.verify({ ...sms, code: '123456', kind: 'code' })).toEqual(locked)
      expect(await service.sendBackupCodes(sms)).toEqual(locked)

      vi.setSystemTime(Date.now() + 1_800_000)
      const { code, verify } = await sendCode(opened(), user, 'sms', user.phone)
      expect(await verify(code)).toEqual({ outcome: 'valid' })
    })

    it('follows a request for a method that is not offered', async () => {
      const { phone, account } = newUser()
      const refused = { outcome: 'refused', refusal: { reason: 'method_off' } }
      expect(await opened().service.send({ method: 'whatsapp', contact: phone, account })).toMatchObject(
        refused,
      )
      expect(await opened().service.send({ method: 'call', contact: phone, account })).toMatchObject(refused)
    })

    it.each([
      ['not in use', '+12025550'],
      ['toll-free', '+18005550199'],
      ['premium-rate', '+449098790879'],
    ])('follows a request for a number that is %s', async (_title, phone) => {
      const { account } = newUser()
      const contact = { kind: 'phone', phone } as const
      const refused = { outcome: 'refused', refusal: { reason: 'contact_refused' } }
      expect(await opened().service.send({ method: 'sms', contact, account })).toMatchObject(refused)
      expect(await opened().service.sendBackupCodes({ method: 'sms', contact, account })).toMatchObject(
        refused,
      )
    })

    it('follows too many messages, and states for how long (R43)', async () => {
      const user = newUser()
      for (let sent = 1; sent <= 5; sent += 1) await sendCode(opened(), user, 'email', user.email)
      const sixth = await opened().service.send({
        method: 'email',
        contact: user.email,
        account: user.account,
      })
      if (sixth.outcome !== 'refused' || sixth.refusal.reason !== 'limited') throw new Error('not limited')
      expect(sixth.refusal.retryAfterSeconds).toBeGreaterThan(60)
    })

    it('does not follow an invalid request, which is an error', async () => {
      const { service } = opened()
      const { email, phone } = newUser()
      const requests = [
        service.send({ method: 'sms', contact: email }),
        service.send({ method: 'dual', contact: phone }),
        service.send({ method: 'sms', contact: { kind: 'phone', phone: '0770 900' } }),
        service.verify({ method: 'email', contact: phone, code: '123456', kind: 'code' }),
        service.verify({ method: 'sms', contact: phone, code: '1'.repeat(65), kind: 'code' }),
        service.enrollApp({ contact: { kind: 'email', email: 'nobody' } }),
        service.sendBackupCodes({ method: 'dual', contact: email }),
      ]
      for (const outcome of await Promise.allSettled(requests)) {
        expect(outcome).toMatchObject({ reason: { code: 'ERR_MFA_SERVICE_REQUEST' } })
        expect('reason' in outcome && outcome.reason).toBeInstanceOf(ServiceError)
      }
    })
  })
}
