import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CodeKind } from '../../src/protocol/methods.js'
import { readQrCode } from '../kit/qr-code.js'
import { wrong } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { newUser } from './new-user.js'
import { totp } from './totp.js'

const STEP_MS = 30_000
const valid = { outcome: 'valid' }
const invalid = { outcome: 'invalid' }

export function describeAppFactor({ opened, hasExtras }: Contract): void {
  const enroll = async () => {
    const { service } = opened()
    const { email: contact, account } = newUser()
    const prepared = await service.enrollApp({ contact, account })
    if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
    const uri = new URL(prepared.uri ?? readQrCode(prepared.qr))
    const secret = uri.searchParams.get('secret') ?? ''
    const verify = (kind: CodeKind, code = totp(secret, Date.now())) =>
      service.verify({ method: 'app', contact, account, kind, code })
    return { prepared, uri, secret, verify }
  }

  describe('an authenticator app', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    it('is enrolled by a QR code that holds the secret that is also given as text (R56)', async () => {
      const { prepared, uri, secret } = await enroll()
      expect(readQrCode(prepared.qr)).toBe(uri.href)
      expect(uri.protocol + uri.host).toBe('otpauth:totp')
      expect(secret).toMatch(/^[A-Z2-7]{32}$/)
      expect(prepared).toMatchObject({ outcome: 'prepared', secret, uri: uri.href })
    })

    it('is confirmed by its first correct code, and then signs in (R54)', async () => {
      const { verify, secret } = await enroll()
      expect(await verify('confirm', wrong(totp(secret, Date.now())))).toEqual(invalid)
      expect(await verify('confirm')).toEqual(valid)
      vi.setSystemTime(Date.now() + STEP_MS)
      expect(await verify('code')).toEqual(valid)
    })

    it('accepts each time step once, whatever it is used for (R51)', async () => {
      const { verify } = await enroll()
      expect(await verify('confirm')).toEqual(valid)
      expect(await verify('code')).toEqual(invalid)
      vi.setSystemTime(Date.now() + STEP_MS)
      const verdicts = await Promise.all([verify('code'), verify('code'), verify('code')])
      expect(verdicts.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
    })

    it('can be one time step behind, but not two, and not ahead (R50)', async () => {
      const { verify, secret } = await enroll()
      await verify('confirm')
      vi.setSystemTime(Date.now() + 10 * STEP_MS)
      const at = (steps: number) => totp(secret, Date.now() + steps * STEP_MS)
      expect(await verify('code', at(-2))).toEqual(hasExtras ? { ...invalid, clockSteps: -2 } : invalid)
      expect(await verify('code', at(1))).toEqual(invalid)
      expect(await verify('code', at(-1))).toEqual(valid)
      expect(await verify('code', at(0))).toEqual(valid)
    })

    if (hasExtras)
      it('is not accepted before it is confirmed (R54)', async () => {
        const { verify } = await enroll()
        expect(await verify('code')).toEqual(invalid)
        expect(await verify('confirm')).toEqual(valid)
      })
  })
}
