import { describe, expect, it } from 'vitest'
import { canonicalBackupCode } from '../../src/protocol/index.js'
import type { CodeKind } from '../../src/protocol/methods.js'
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

    if (hasExtras)
      it('can be returned for a page, and are then valid for the account with every contact (R60, R61)', async () => {
        const old = await issue()
        const { service, inbox } = opened()
        const { account, email, phone } = old.user
        const before = (await inbox(email.email)).length
        const created = await service.createBackupCodes?.({ account, contact: email })
        if (created?.outcome !== 'created') throw new Error('No codes were created.')
        expect(new Set(created.codes).size).toBe(10)
        expect(await old.verify(old.codes[1] ?? '')).toEqual(invalid)
        const [first = '', second = ''] = created.codes
        const verify = (code: string, contact: typeof email | typeof phone) =>
          service.verify({
            method: contact.kind === 'email' ? 'email' : 'sms',
            contact,
            account,
            kind: 'backup',
            code: canonicalBackupCode(code),
          })
        const accepted = { outcome: 'valid', kind: 'backup', backupCodesLeft: 9, backupDelivery: 'page' }
        expect(await verify(first, email)).toEqual(accepted)
        expect(await verify(first, phone)).toEqual(invalid)
        expect(await verify(second, phone)).toEqual({ ...accepted, backupCodesLeft: 8 })
        expect(await service.factorsOf?.({ account, contact: phone })).toMatchObject({
          backupCodesLeft: 8,
          backupDelivery: 'page',
        })
        const texts = await inbox(email.email)
        for (const code of created.codes) expect(texts.join()).not.toContain(code)
        // Only a notice may have been sent.
        expect(texts.length - before).toBeLessThanOrEqual(1)
      })

    if (hasExtras)
      it('count as sent again when the next ones are sent, and are invalid once they are removed', async () => {
        const first = await issue()
        const { service } = opened()
        const { account, email: contact } = first.user
        await service.createBackupCodes?.({ account, contact })
        const sent = await issue(first.user)
        expect(await sent.verify(sent.codes[0] ?? '')).toEqual({
          outcome: 'valid',
          kind: 'backup',
          backupCodesLeft: 9,
        })
        const remove = () => service.removeFactor?.({ account, contact, factor: 'backup' })
        expect(await remove()).toEqual({ outcome: 'removed' })
        expect(await remove()).toEqual({ outcome: 'none' })
        expect(await sent.verify(sent.codes[1] ?? '')).toEqual(invalid)
        expect((await service.factorsOf?.({ account, contact }))?.backupCodesLeft).toBe(0)
      })

    if (!hasExtras)
      it('can only be sent, and not removed', () => {
        const { service } = opened()
        expect([service.createBackupCodes, service.removeFactor]).toEqual([undefined, undefined])
      })

    if (!hasExtras)
      it('are recognized by their form when the request does not say the kind of the code', async () => {
        const { codes, verify } = await issue()
        expect(await verify(codes[0] ?? '', 'code')).toEqual(valid)
        expect(await verify(codes[0] ?? '', 'backup')).toEqual(invalid)
      })
  })
}
