import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { wrong } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { newUser } from './new-user.js'
import { totp } from './totp.js'

export function describeAccountFactors({ opened, hasExtras }: Contract): void {
  if (!hasExtras) {
    it('does not report the factors of an account', () => {
      expect(opened().service.factorsOf).toBeUndefined()
    })
    return
  }

  describe('the factors of an account', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
    afterEach(() => void vi.useRealTimers())

    const factorsOf = ({ account, email: contact }: ReturnType<typeof newUser>) =>
      opened().service.factorsOf?.({ account, contact })

    it('are none for an unknown account', async () => {
      expect(await factorsOf(newUser())).toEqual({ app: false, backupCodesLeft: 0 })
    })

    it('include an app from its first correct code on (R54)', async () => {
      const { service } = opened()
      const user = newUser()
      const { account, email: contact } = user
      const prepared = await service.enrollApp({ account, contact })
      if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
      const code = totp(prepared.secret ?? '', Date.now())
      const confirm = (code: string) =>
        service.verify({ method: 'app', contact, account, kind: 'confirm', code })
      expect((await factorsOf(user))?.app).toBe(false)
      await confirm(wrong(code))
      expect((await factorsOf(user))?.app).toBe(false)
      await confirm(code)
      expect((await factorsOf(user))?.app).toBe(true)
      // The app belongs to the account, whichever contact names it.
      expect((await service.factorsOf?.({ account, contact: user.phone }))?.app).toBe(true)
      expect((await factorsOf({ ...user, account: `${account}-other` }))?.app).toBe(false)
    })

    it('include the unused backup codes that are valid for the contact', async () => {
      const { service, inbox } = opened()
      const user = newUser()
      const { account, email: contact } = user
      await service.sendBackupCodes({ method: 'email', account, contact })
      expect(await factorsOf(user)).toEqual({ app: false, backupCodesLeft: 10 })
      const [text = ''] = await inbox(contact.email)
      const code = (/\b[0-9A-Z]{4}(-[0-9A-Z]{4}){3}\b/.exec(text)?.[0] ?? '').replaceAll('-', '')
      await service.verify({ method: 'email', account, contact, kind: 'backup', code })
      expect((await factorsOf(user))?.backupCodesLeft).toBe(9)
      expect((await service.factorsOf?.({ account, contact: user.phone }))?.backupCodesLeft).toBe(0)
    })
  })
}
