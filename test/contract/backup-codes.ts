import { describe, expect, it } from 'vitest'
import { type CodeKind, canonicalBackupCode } from '../../src/protocol/index.js'
import { sendCode } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { newUser } from './new-user.js'

const valid = expect.objectContaining({ outcome: 'valid' })
const invalid = { outcome: 'invalid' }

export function describeBackupCodes({ opened, hasExtras }: Contract): void {
  const issue = async (user = newUser()) => {
    const { service, inbox } = opened()
    const { email: contact, account } = user
    const answer = await service.sendBackupCodes({ method: 'email', contact, account })
    const texts = await inbox(contact.email)
    const [codes = []] = texts
      .map((text) => text.match(/\b[0-9A-Z]{4}(-[0-9A-Z]{4}){3}\b/g) ?? [])
      .filter(({ length }) => length > 0)
    const verify = (code: string, kind: CodeKind = 'backup') =>
      service.verify({ method: 'email', contact, account, kind, code: canonicalBackupCode(code) })
    return { answer, user, codes: codes.map(String), verify }
  }

  describe('backup codes', () => {
    it('are ten codes, sent to the user, which work once each (R58, R60)', async () => {
      const { answer, codes, verify } = await issue()
      expect(answer).toEqual({ outcome: 'sent', count: 10 })
      expect(new Set(codes).size).toBe(10)
      const [first = '', second = ''] = codes
      expect(await verify(first)).toEqual(valid)
      expect(await verify(first)).toEqual(invalid)
      expect(await verify(second.toLowerCase())).toEqual(valid)
    })

    it('are accepted once when they are submitted concurrently (R60)', async () => {
      const { codes, verify } = await issue()
      const [code = ''] = codes
      const verdicts = await Promise.all(Array.from({ length: 5 }, () => verify(code)))
      expect(verdicts.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
    })

    it('are invalid after new ones were sent (R61)', async () => {
      const old = await issue()
      const fresh = await issue(old.user)
      expect(await fresh.verify(old.codes[0] ?? '')).toEqual(invalid)
      expect(await fresh.verify(fresh.codes[0] ?? '')).toEqual(valid)
    })

    it('are valid for one user only', async () => {
      const [hers, his] = [await issue(), await issue()]
      expect(await his.verify(hers.codes[0] ?? '')).toEqual(invalid)
      expect(await hers.verify(hers.codes[0] ?? '')).toEqual(valid)
    })

    if (hasExtras)
      it('are accepted only as backup codes, and delivered codes are not accepted as such (R91)', async () => {
        const { codes, verify, user } = await issue()
        const [code = ''] = codes
        expect(await verify(code, 'code')).toEqual(invalid)
        expect(await verify(code, 'confirm')).toEqual(invalid)
        const delivered = await sendCode(opened(), user, 'email', user.email)
        expect(await verify(delivered.code, 'backup')).toEqual(invalid)
        expect(await delivered.verify(code)).toEqual(invalid)
        expect(await delivered.verify(delivered.code)).toEqual(valid)
        expect(await verify(code)).toEqual(valid)
      })

    if (!hasExtras)
      it('are recognized by their form when the request does not say the kind of the code', async () => {
        const { codes, verify } = await issue()
        expect(await verify(codes[0] ?? '', 'code')).toEqual(valid)
        expect(await verify(codes[0] ?? '', 'backup')).toEqual(invalid)
      })
  })
}
