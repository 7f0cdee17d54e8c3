import { describe, expect, it } from 'vitest'
import { type CodeKind, canonicalBackupCode } from '../../src/protocol/index.js'
import { sendCode } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { somebody } from './people.js'

const valid = expect.objectContaining({ outcome: 'valid' })
const invalid = { outcome: 'invalid' }

export function describeBackupCodes({ opened, isTold }: Contract): void {
  const issue = async (person = somebody()) => {
    const { service, inbox } = opened()
    const { email: contact, account } = person
    const answer = await service.sendBackupCodes({ method: 'email', contact, account })
    const texts = await inbox(contact.email)
    const [codes = []] = texts
      .map((text) => text.match(/\b[0-9A-Z]{4}(-[0-9A-Z]{4}){3}\b/g) ?? [])
      .filter(({ length }) => length > 0)
    const verify = (code: string, kind: CodeKind = 'backup') =>
      service.verify({ method: 'email', contact, account, kind, code: canonicalBackupCode(code) })
    return { answer, person, codes: codes.map(String), verify }
  }

  describe('backup codes', () => {
    it('are ten, sent to the person, each good for one time (R58, R60)', async () => {
      const { answer, codes, verify } = await issue()
      expect(answer).toEqual({ outcome: 'sent', count: 10 })
      expect(new Set(codes).size).toBe(10)
      const [first = '', second = ''] = codes
      expect(await verify(first)).toEqual(valid)
      expect(await verify(first)).toEqual(invalid)
      expect(await verify(second.toLowerCase())).toEqual(valid)
    })

    it('are spent once when they are typed twice at the same time (R60)', async () => {
      const { codes, verify } = await issue()
      const [code = ''] = codes
      const verdicts = await Promise.all(Array.from({ length: 5 }, () => verify(code)))
      expect(verdicts.filter(({ outcome }) => outcome === 'valid')).toHaveLength(1)
    })

    it('die when new ones are made (R61)', async () => {
      const old = await issue()
      const fresh = await issue(old.person)
      expect(await fresh.verify(old.codes[0] ?? '')).toEqual(invalid)
      expect(await fresh.verify(fresh.codes[0] ?? '')).toEqual(valid)
    })

    it('belong to one person', async () => {
      const [hers, his] = [await issue(), await issue()]
      expect(await his.verify(hers.codes[0] ?? '')).toEqual(invalid)
      expect(await hers.verify(hers.codes[0] ?? '')).toEqual(valid)
    })

    if (isTold)
      it('count only as what they are, and a delivered code not as one of them (R91)', async () => {
        const { codes, verify, person } = await issue()
        const [code = ''] = codes
        expect(await verify(code, 'code')).toEqual(invalid)
        expect(await verify(code, 'confirm')).toEqual(invalid)
        const delivered = await sendCode(opened(), person, 'email', person.email)
        expect(await verify(delivered.code, 'backup')).toEqual(invalid)
        expect(await delivered.verify(code)).toEqual(invalid)
        expect(await delivered.verify(delivered.code)).toEqual(valid)
        expect(await verify(code)).toEqual(valid)
      })

    if (!isTold)
      it('are known by how they look when nobody says what is meant', async () => {
        const { codes, verify } = await issue()
        expect(await verify(codes[0] ?? '', 'code')).toEqual(valid)
        expect(await verify(codes[0] ?? '', 'backup')).toEqual(invalid)
      })
  })
}
