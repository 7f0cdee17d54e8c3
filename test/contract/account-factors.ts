import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sendCode, wrong } from './delivered-codes.js'
import type { Contract } from './mfa-service.js'
import { newUser } from './new-user.js'
import { totp } from './totp.js'

const APP = { method: 'app', usable: true, digits: 6 }

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
      expect(await factorsOf(newUser())).toEqual({
        existing: [],
        offeredKeys: expect.anything(),
        backupCodesLeft: 0,
        lastUsed: [],
      })
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
      expect((await factorsOf(user))?.existing).toEqual([])
      await confirm(wrong(code))
      expect((await factorsOf(user))?.existing).toEqual([])
      await confirm(code)
      expect((await factorsOf(user))?.existing).toEqual([APP])
      // The app belongs to the account, whichever contact names it.
      expect((await service.factorsOf?.({ account, contact: user.phone }))?.existing).toEqual([APP])
      expect((await factorsOf({ ...user, account: `${account}-other` }))?.existing).toEqual([])
    })

    it('include the unused backup codes that are valid for the contact', async () => {
      const { service, inbox } = opened()
      const user = newUser()
      const { account, email: contact } = user
      await service.sendBackupCodes({ method: 'email', account, contact })
      expect(await factorsOf(user)).toEqual({
        existing: [],
        offeredKeys: expect.anything(),
        backupCodesLeft: 10,
        lastUsed: [],
      })
      const [text = ''] = await inbox(contact.email)
      const code = (/\b[0-9A-Z]{4}(-[0-9A-Z]{4}){3}\b/.exec(text)?.[0] ?? '').replaceAll('-', '')
      await service.verify({ method: 'email', account, contact, kind: 'backup', code })
      expect((await factorsOf(user))?.backupCodesLeft).toBe(9)
      expect((await service.factorsOf?.({ account, contact: user.phone }))?.backupCodesLeft).toBe(0)
    })

    it('say when each was last used, to the hour', async () => {
      const { service } = opened()
      const user = newUser()
      const { account, email: contact, phone } = user
      const start = Date.now()
      const prove = async (method: 'email' | 'sms', to: typeof contact | typeof phone) => {
        const sent = await sendCode(opened(), user, method, to)
        await sent.verify(wrong(sent.code))
        await sent.verify(sent.code)
      }
      await prove('email', contact)
      vi.setSystemTime(start + 40 * 60_000)
      await prove('email', contact)
      await prove('sms', phone)
      vi.setSystemTime(start + 3_600_000)
      await prove('email', contact)
      await service.createBackupCodes?.({ account, contact })
      const { lastUsed = [] } = (await factorsOf(user)) ?? {}
      expect(lastUsed).toHaveLength(2)
      expect(lastUsed).toContainEqual({ type: 'EMAIL', user: contact.email, at: start + 3_600_000 })
      expect(lastUsed).toContainEqual({ type: 'PHONE', user: phone.phone, at: start + 40 * 60_000 })
    })

    it('no longer include an app that was removed, whose codes are then invalid', async () => {
      const { service } = opened()
      const user = newUser()
      const { account, email: contact } = user
      const prepared = await service.enrollApp({ account, contact })
      if (prepared.outcome === 'refused') throw new Error(prepared.refusal.reason)
      const verify = (kind: 'confirm' | 'code') =>
        service.verify({
          method: 'app',
          contact,
          account,
          kind,
          code: totp(prepared.secret ?? '', Date.now()),
        })
      await verify('confirm')
      const remove = () => service.removeFactor?.({ account, contact, factor: 'app' })
      expect(await remove()).toEqual({ outcome: 'removed' })
      expect(await remove()).toEqual({ outcome: 'none' })
      expect(await factorsOf(user)).toEqual({
        existing: [],
        offeredKeys: expect.anything(),
        backupCodesLeft: 0,
        lastUsed: [],
      })
      vi.setSystemTime(Date.now() + 30_000)
      expect(await verify('code')).toEqual({ outcome: 'invalid' })
    })
  })
}
