import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { assertion, creation, serveKeyRoutes, USER_HANDLE } from './key-routes.js'
import { keyId, virtualAuthenticators } from './virtual-authenticator.js'

const KEY = { id: 'a2V5', method: 'passkey', name: 'Phone', synced: true, createdAt: '2030-01-01T00:00:00Z' }

describe.skipIf(!hasBrowser)('countersign/browser in Chromium', () => {
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof serveKeyRoutes>>
  let authenticators: Awaited<ReturnType<typeof virtualAuthenticators>>

  beforeAll(async () => {
    site = await serveKeyRoutes()
    browser = await openBrowser()
    page = await (await browser.newContext()).newPage()
    await page.goto(site.url)
    authenticators = await virtualAuthenticators(page)
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
  })

  const call = (expression: string) =>
    page.evaluate<Record<string, unknown>>(`import('/browser.mjs').then((keys) => keys.${expression})`)
  const enroll = (method = 'passkey') =>
    call(`enrollKey({ base: '/mfa', method: '${method}', name: 'Phone' })`)
  const confirm = () => call(`confirmWithKey({ base: '/mfa/', method: 'passkey', trust: true })`)

  /** Creates a passkey on a new authenticator. */
  async function passkey() {
    const authenticator = await authenticators.add()
    site.reply('/mfa/keys/options', { body: { publicKey: creation() } })
    site.reply('/mfa/keys', { body: { status: 'added', key: KEY } })
    expect(await enroll()).toEqual({ ok: true, key: KEY })
    const [stored] = await authenticator.keys()
    if (!stored) throw new Error('The authenticator has no key.')
    return { authenticator, id: keyId(stored) }
  }

  it('knows what the browser can do, and what a policy of the page forbids', async () => {
    const { authenticator } = await passkey()
    expect(await call('canUseKeys()')).toEqual({
      supported: true,
      passkeyOnThisDevice: true,
      autofill: true,
      signals: true,
    })
    await authenticator.remove()
    await page.goto(`${site.url}/forbidden`)
    expect(await call('canUseKeys()')).toMatchObject({ supported: false, missing: 'permissions_policy' })
    site.reply('/mfa/challenge', { body: { publicKey: assertion([]) } })
    expect(await confirm()).toEqual({ ok: false, reason: 'not_supported' })
    await page.goto(site.url)
  })

  it('enrolls a security key without user verification, and says that it is registered already', async () => {
    const key = await authenticators.add({
      transport: 'usb',
      hasResidentKey: false,
      hasUserVerification: false,
      synced: false,
    })
    const authenticatorSelection = { residentKey: 'discouraged', userVerification: 'discouraged' }
    site.reply('/mfa/keys/options', { body: { publicKey: creation({ authenticatorSelection }) } })
    site.reply('/mfa/keys', { body: { status: 'added', key: KEY } })
    expect(await enroll('security-key')).toEqual({ ok: true, key: KEY })
    expect(site.bodiesOf('/mfa/keys/options').at(-1)).toEqual({ method: 'security-key' })
    const sent = site.bodiesOf('/mfa/keys').at(-1)
    const [stored] = await key.keys()
    if (!stored) throw new Error('The authenticator has no key.')
    expect(stored.isResidentCredential).toBe(false)
    expect(sent).toMatchObject({
      method: 'security-key',
      name: 'Phone',
      response: { id: keyId(stored), type: 'public-key' },
    })

    const excludeCredentials = [{ type: 'public-key', id: keyId(stored) }]
    site.reply('/mfa/keys/options', {
      body: { publicKey: creation({ authenticatorSelection, excludeCredentials }) },
    })
    expect(await enroll('security-key')).toEqual({ ok: false, reason: 'already_registered' })
    await key.remove()
  })

  it('confirms with a passkey, and returns where the user continues', async () => {
    const { authenticator, id } = await passkey()
    site.reply('/mfa/challenge', { body: { publicKey: assertion([id], { userVerification: 'required' }) } })
    site.reply('/mfa/verify', { body: { status: 'verified', next: '/vault', trusted: true } })
    expect(await confirm()).toEqual({ ok: true, status: 'verified', next: '/vault', trusted: true })
    expect(site.bodiesOf('/mfa/challenge').at(-1)).toEqual({ factor: 'passkey' })
    expect(site.bodiesOf('/mfa/verify').at(-1)).toMatchObject({
      factor: 'passkey',
      trust: true,
      response: { id },
    })

    await authenticator.verifyUser(false)
    expect(await confirm()).toEqual({ ok: false, reason: 'cancelled' })
    await authenticator.remove()
  })

  it('offers passkeys in the autofill of an input, until the user picks one or another ceremony begins', async () => {
    const { authenticator, id } = await passkey()
    site.reply('/mfa/challenge', { body: { publicKey: assertion([id], { userVerification: 'required' }) } })
    site.reply('/mfa/verify', { body: { status: 'verified', next: '/vault' } })
    const autofill = () => call(`confirmWithKey({ base: '/mfa', method: 'passkey', autofill: true })`)
    // Without an input there is nothing to offer them in.
    expect(await autofill()).toEqual({ ok: false, reason: 'failed' })
    await page.evaluate(`document.body.innerHTML += '<input autocomplete="username webauthn">'`)
    expect(await autofill()).toEqual({ ok: true, status: 'verified', next: '/vault' })
    expect(site.bodiesOf('/mfa/verify').at(-1)).toMatchObject({ factor: 'passkey', response: { id } })
    await authenticator.remove()
    await page.goto(site.url)
  })

  it('names the site, the app and the connection as reasons', async () => {
    site.reply('/mfa/challenge', { body: { publicKey: assertion([], { rpId: 'vault.example' }) } })
    expect(await confirm()).toEqual({ ok: false, reason: 'wrong_site' })
    const problem = { code: 'step_up_required', next: '/mfa' }
    site.reply('/mfa/keys/options', { status: 401, body: problem })
    expect(await enroll()).toEqual({ ok: false, reason: 'refused', problem })
    site.reply('/mfa/keys/options', 'hang up')
    expect(await enroll()).toEqual({ ok: false, reason: 'offline' })
  })

  it('signals an unknown key only if the app had listed it, since another account may have it', async () => {
    const { authenticator, id } = await passkey()
    const problem = { code: 'invalid_key', fault: 'unknown_key', attemptsLeft: 4 }
    site.reply('/mfa/verify', { status: 401, body: problem })
    site.reply('/mfa/challenge', { body: { publicKey: assertion([]) } })
    expect(await confirm()).toEqual({ ok: false, reason: 'not_your_key', problem })
    expect(await authenticator.keys()).toHaveLength(1)
    site.reply('/mfa/challenge', { body: { publicKey: assertion([id]) } })
    expect(await confirm()).toEqual({ ok: false, reason: 'not_your_key', problem })
    await expect.poll(() => authenticator.keys()).toEqual([])
    await authenticator.remove()
  })

  it('has the password manager follow a new name and a removal', async () => {
    const { authenticator, id } = await passkey()
    const owner = { relyingPartyId: 'localhost', userHandle: USER_HANDLE }
    expect(await call(`signalUserName(${JSON.stringify({ ...owner, name: 'al@vault.example' })})`)).toBe(true)
    await expect.poll(async () => (await authenticator.keys())[0]?.userName).toBe('al@vault.example')
    site.reply('/mfa/keys', { body: { keys: [{ ...KEY, id }], ...owner } })
    expect(await call(`signalKeys({ base: '/mfa' })`)).toBe(true)
    expect(await authenticator.keys()).toHaveLength(1)
    site.reply('/mfa/keys', { body: { keys: [], ...owner } })
    expect(await call(`signalKeys({ base: '/mfa' })`)).toBe(true)
    await expect.poll(() => authenticator.keys()).toEqual([])
    await authenticator.remove()
  })
})
