import request from 'supertest'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { SETTING_NAMES } from '../../src/accounts/applications/settings.js'
import { PAGE_ROUTES } from '../../src/console/console.js'
import { isAtLeast, ROLES, type Role } from '../../src/operator/rights.js'
import { eventReceiver } from '../events/event-receiver.js'
import { advance, stopClock } from '../kit.js'
import { KEY_PAGE, registerSoftwareKey } from '../software-key.js'
import {
  decoded,
  findUser,
  openConsole,
  post,
  read,
  type SignedIn,
  settingsForm,
  type TestConsole,
  textOf,
  typeCode,
  typePassword,
} from './kit.js'

describe('the pages of the console', () => {
  let console: TestConsole
  let operators: Readonly<Record<Role, SignedIn>>
  beforeAll(async () => {
    stopClock()
    console = await openConsole({ url: 'https://console.example' })
    operators = {
      viewer: await console.signUp('viewer'),
      support: await console.signUp('support'),
      admin: await console.signUp('admin'),
    }
  })
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    await console.service.close()
  })

  describe('by role (R106)', () => {
    test('require the role of their route', () =>
      everyCase(PAGE_ROUTES, async ({ method, path, least }) => {
        const url = path.replace(/:\w+/g, 'unknown')
        const statusOf = async (browser: SignedIn['browser']) =>
          (method === 'get' ? await browser.get(url) : await post(browser, url)).status
        expect(await statusOf(console.open())).toBe(303)
        for (const role of ROLES) {
          const status = await statusOf(operators[role].browser)
          expect([role, status === 403]).toEqual([role, !isAtLeast(role, least)])
          expect(status).toBeLessThan(500)
        }
      }))

    test('refuse a NUL character in a filter, an address or a field with 400 (R81, R83)', async () => {
      const { browser } = operators.admin
      const filters = 'search after application actor action from to before state channel carrier mode for'
      for (const { method, path } of PAGE_ROUTES) {
        const url = path.replace(/:\w+/g, 'default')
        const asked =
          method === 'get'
            ? [...filters.split(' ').map((name) => `${url}?${name}=a%00b`), path.replace(/:\w+/g, 'a%00b')]
            : []
        for (const address of asked.filter((one) => one.includes('%00'))) {
          expect([address, (await browser.get(address)).status]).toEqual([address, 400])
        }
        for (const name of method === 'post' ? ['a\0b', ['a', 'b\0']] : []) {
          expect([path, (await post(browser, url, { name })).status]).toEqual([path, 400])
        }
      }
    })

    test('refuse what other sites send, and cannot be framed by them or run scripts of theirs (R11, R12, R13)', async () => {
      const { browser } = operators.admin
      for (const { method, path } of PAGE_ROUTES) {
        const url = path.replace(/:\w+/g, 'default')
        if (method === 'post') {
          const { status } = await post(browser, url).set('Sec-Fetch-Site', 'cross-site')
          expect([url, status]).toEqual([url, 403])
        } else {
          const { headers } = await browser.get(url)
          const policy = String(headers['content-security-policy'])
          expect([url, policy]).toEqual([
            url,
            expect.stringMatching(/default-src 'none';.* frame-ancestors 'none'/),
          ])
          // No scripts but those of the console.
          expect([url, policy]).toEqual([
            url,
            expect.not.stringMatching(/script-src(?! 'self'(;|$))|unsafe-eval/),
          ])
          expect([url, headers['x-frame-options']]).toEqual([url, 'DENY'])
        }
      }
    })

    test('lets support and admin do what changes something, and nobody by reading', () => {
      for (const { method, path, least } of PAGE_ROUTES) {
        if (method === 'post') expect([path, least]).not.toEqual([path, 'viewer'])
      }
    })
  })

  test('leaves an administrator their own account, and changes the role of others at once', async () => {
    const { browser, email } = operators.admin
    const viewer = await console.signUp('viewer')
    await read(viewer.browser, '/console/operators', 403)
    await post(browser, '/console/operators/role', { email, role: 'viewer' }).expect(422)
    await post(browser, '/console/operators/disable', { email }).expect(422)
    await post(browser, '/console/operators/role', { email: viewer.email, role: 'owner' }).expect(422)
    await post(browser, '/console/operators/role', { email: viewer.email, role: 'admin' }).expect(200)
    expect(await read(viewer.browser, '/console/operators')).toContain(email)
    const disabled = await post(browser, '/console/operators/disable', { email: viewer.email }).expect(200)
    expect(textOf(disabled.text)).toContain(`The account of ${viewer.email} is disabled`)
    await read(viewer.browser, '/console/operators', 303)
  })

  test('invites, resets and disables operators, and shows each link once (R106)', async () => {
    const { browser, email: own } = operators.admin
    const email = 'new.person@example.com'
    const path = '/console/operators'
    const linkIn = (text: string) => /\/console\/invitation\/[\w-]{43}/.exec(text)?.[0] ?? ''
    const latest = async () => {
      const [entry] = await console.service.operator('test').listAudit({ limit: 1 })
      return `${entry?.actor} ${entry?.action} ${entry?.detail}`
    }
    await signInAgain(operators.admin)
    await post(browser, `${path}/invite`, { email: 'no address', role: 'viewer' }).expect(422)
    await post(browser, `${path}/invite`, { email, role: 'owner' }).expect(422)
    const invited = await post(browser, `${path}/invite`, { email, role: 'support' }).expect(200)
    expect(await latest()).toBe(`${own} operator.invited ${email} support`)
    const first = linkIn(invited.text)
    expect(await read(browser, path)).toMatch(/new\.person@example\.com support invited until /)
    const again = await post(browser, `${path}/invite`, { email }).expect(200)
    await read(console.open(), first, 404)
    await post(browser, `${path}/revoke`, { email }).expect(200)
    await read(console.open(), linkIn(again.text), 404)
    expect(await read(browser, path)).not.toContain(email)
    await post(browser, `${path}/revoke`, { email }).expect(422)

    const person = await console.signUp('support', email)
    expect(await read(browser, path)).toContain(`${email} support active authenticator app`)
    const refused = await post(browser, `${path}/invite`, { email, role: 'viewer' }).expect(422)
    expect(textOf(refused.text)).toContain(`${email} has an account already.`)
    await post(browser, `${path}/sessions`, { email }).expect(200)
    await person.browser.get('/console').expect(303)
    await typePassword(person.browser, email).expect(303)
    await typeCode(person).expect(303)
    await read(person.browser, '/console')

    await signInAgain(operators.admin)
    const reset = await post(browser, `${path}/reset`, { email }).expect(200)
    expect(await latest()).toBe(`${own} operator.reset ${email}`)
    await person.browser.get('/console').expect(303)
    await typePassword(person.browser, email).expect(401)
    await read(console.open(), linkIn(reset.text))
    await post(browser, `${path}/disable`, { email }).expect(200)
    await read(console.open(), linkIn(reset.text), 404)
    const enabled = await post(browser, `${path}/invite`, { email }).expect(200)
    await read(console.open(), linkIn(enabled.text))
    for (const action of ['invite', 'reset', 'sessions', 'disable', 'role']) {
      const fields = { email: own.toUpperCase(), role: 'viewer' }
      await post(browser, `${path}/${action}`, fields).expect(422)
    }
  })

  test('asks for the second factor again, after ten minutes, where a role or a secret changes (R17)', async () => {
    const { browser } = operators.admin
    const change = () => post(browser, '/console/operators/role', { email: 'x@example.com', role: 'viewer' })
    await change().expect(422)
    advance(10 * 60)
    await change()
      .expect(303)
      .expect('location', /^\/console\/mfa/)
    advance(30)
    await typeCode(operators.admin).expect(303)
    await change().expect(422)
  })

  test('creates applications, and shows every setting with its default and allowed range', async () => {
    const { browser } = operators.admin
    const refused = await post(browser, '/console/applications', { application: 'Shop!' }).expect(422)
    expect(textOf(refused.text)).toContain('use 1 to 40 lowercase letters, digits and dashes')
    await post(browser, '/console/applications', { application: 'shop', countries: 'gb' }).expect(422)
    await post(browser, '/console/applications', { application: 'shop', countries: 'GB,DE' })
      .expect(303)
      .expect('location', '/console/applications/shop')
    expect(await read(browser, '/console/applications?search=sho')).toContain('shop standard 0 0')
    expect(await read(browser, '/console/applications?search=SHOP&after=shoo')).toContain('shop standard 0 0')
    expect(await read(browser, '/console/applications?search=shop&after=shop')).toContain('No application')
    expect(await read(browser, '/console/applications?search=other')).toContain(
      'No application has this name.',
    )
    const page = await read(operators.viewer.browser, '/console/applications/shop')
    expect(page).toContain(
      'How many codes are checked for one challenge. Allowed: 3 to 10 attempts. Default: 5.',
    )
    expect(page).toContain('Allowed: 1 to 10,000,000 messages. Default: 10,000.')
    expect(page).toContain('Only administrators can change settings.')
    const shown = Object.keys(await settingsForm(browser, 'shop'))
    expect(SETTING_NAMES.filter((name) => !shown.includes(`was.${name}`))).toEqual([])
    expect(page).toContain('Phone numbers and money 1 of 4 differ from the default')
    expect(page).toContain('Codes as the default')
    await read(browser, '/console/applications/unknown', 404)
  })

  test('shows what the environment says of the application "default": its key, its name and its limits', async () => {
    const own = await openConsole(
      {},
      {
        apiKey: 'the-key-in-the-environment',
        apiKeyScopes: ['verify', 'enroll', 'read'],
        applicationName: 'Bank of Ann',
        limits: { codeDigits: 8, lockDuration: '2h' },
      },
    )
    onTestFinished(() => own.service.close())
    const { browser } = await own.signUp('support')
    expect(await read(browser, '/console/applications')).toMatch(/default Bank of Ann enterprise 1 0 /)
    expect(await read(browser, '/console/applications/default/keys')).toContain(
      'SERVICE_API_KEY in the environment live verify, enroll, read – – – – valid',
    )
    const settings = await browser.get('/console/applications/default').expect(200)
    for (const [name, value] of [
      ['name', 'Bank of Ann'],
      ['codeDigits', '8'],
      ['lockDuration', '2h'],
      ['emailCodeLifetime', '10m'],
    ])
      expect(settings.text).toContain(`name="${name}" value="" placeholder="${value}"`)
    expect(textOf(settings.text)).not.toContain('differ from the default')
    await own.service.mfa.send({ method: 'email', contact: { kind: 'email', email: 'ann@example.com' } })
    expect(await read(browser, '/console/applications/default/inbox?mode=live')).toContain('Bank of Ann')
    const health = await read(browser, '/console/health')
    expect(health).toContain(
      'Every application has a live key. Applications: 1, keys: 0 and SERVICE_API_KEY.',
    )
    expect(health).not.toContain('No name is set')
  })

  test('have a title and heading of their own, which name the application', async () => {
    const { browser } = operators.admin
    const titles = await Promise.all(
      ['', '/keys', '/locked', '/messages', '/numbers', '/traffic', '/webhook', '/events'].map(
        async (page) => {
          const { text } = await browser.get(`/console/applications/default${page}`).expect(200)
          const title = /<title>(.*?) – /.exec(text)?.[1]
          expect(/<h1>(.*?)<\/h1>/.exec(text)?.[1]).toBe(title)
          return title
        },
      ),
    )
    expect(new Set(titles).size).toBe(titles.length)
    for (const title of titles) expect(title).toMatch(/ of default$/)
  })

  test('name the field of a wrong setting, which has the focus, and keep what was typed', async () => {
    const { browser } = operators.admin
    const path = '/console/applications/default'
    const typed = {
      ...(await settingsForm(browser, 'default')),
      attemptsPerChallenge: '-7',
      sendsPerDay: 'x',
    }
    const { text } = await post(browser, path, typed).expect(422)
    const invalid = [
      ...text.matchAll(/<(?:input|select|textarea|fieldset) id="(\w+)"[^>]*aria-invalid="true"[^>]*>/g),
    ]
    expect(invalid.map(([, name]) => name).sort()).toEqual(['attemptsPerChallenge', 'sendsPerDay'])
    for (const [field, name] of invalid) expect(field).toContain(`aria-describedby="message ${name}-hint"`)
    expect(text.match(/ autofocus/g)).toHaveLength(1)
    expect(text).toMatch(/<div class="mfa-message mfa-message-error" id="message" role="alert">/)
    expect(text).toContain('value="-7"')
  })

  test('changes only the settings that were edited, and returns them to their defaults', async () => {
    const { browser } = operators.admin
    await console.service.operator('test').createApplication('edited', { sendsPerDay: 7 })
    const path = '/console/applications/edited'
    const save = async (changes: Record<string, string | string[]>, status = 200) => {
      const response = await post(browser, path, { ...(await settingsForm(browser, 'edited')), ...changes })
      expect(response.status).toBe(status)
      return textOf(response.text)
    }
    const settings = async () =>
      Object.fromEntries(
        (await console.service.operator('test').showSettings('edited'))
          .filter(({ from }) => from === 'set')
          .map(({ name, value }) => [name, value]),
      )
    expect(await save({})).toContain('Nothing was changed.')
    expect(await save({ lockDuration: '1h', name: 'Édition <b>' })).toContain('Saved: name, lock duration.')
    expect(await save({ methods: ['email', 'sms'], 'default.methods': '' })).toContain('Saved: methods.')
    expect(await save({ sendsPerDay: '' })).toContain('Saved: sends per day.')
    expect(await settings()).toEqual({ lockDuration: '1h', name: 'Édition <b>', methods: 'email,sms' })
    expect(await save({})).toContain('Nothing was changed.')
    expect(await save({ methods: [] })).toContain('Saved: methods.')
    expect(await settings()).toMatchObject({ methods: '' })
    expect(await save({ 'default.methods': 'on' })).toContain('Saved: methods.')
    // Editing a list is enough; its default need not be unticked.
    expect(await save({ methods: ['email'] })).toContain('Saved: methods.')
    expect(await settings()).toMatchObject({ methods: 'email' })
    expect(await save({ 'default.methods': 'on' })).toContain('Saved: methods.')
    expect(await save({ attemptsPerChallenge: '50' }, 422)).toContain(
      'must be a whole number of attempts from 3 to 10',
    )
    expect(await settings()).toEqual({ lockDuration: '1h', name: 'Édition <b>' })
    const [latest] = await console.service.operator('test').listAudit({ application: 'edited', limit: 1 })
    expect(latest).toMatchObject({ actor: operators.admin.email, detail: 'methods unset' })
  })

  test('tells the second of two operators who change the same setting, and keeps the change of the first', async () => {
    const second = await console.signUp('admin')
    await console.service.operator('test').createApplication('shared')
    const path = '/console/applications/shared'
    const [first, other] = [
      await settingsForm(operators.admin.browser, 'shared'),
      await settingsForm(second.browser, 'shared'),
    ]
    await post(operators.admin.browser, path, { ...first, sendsPerDay: '8', codeDigits: '8' }).expect(200)
    const refused = await post(second.browser, path, { ...other, sendsPerDay: '9' }).expect(422)
    expect(textOf(refused.text)).toContain(
      'Another operator has changed sendsPerDay in the meantime: it is "8" now. Nothing was saved',
    )
    // The page keeps what was typed, and shows what the other operator changed elsewhere.
    expect(refused.text).toContain('name="sendsPerDay" value="9"')
    expect(refused.text).toContain('name="codeDigits" value="8"')
    await post(second.browser, path, { ...other, backupCodes: '12' }).expect(200)
    const settings = await console.service.operator('test').showSettings('shared')
    const set = settings.filter(({ from }) => from === 'set').map(({ name, value }) => `${name}=${value}`)
    expect(set.sort()).toEqual(['backupCodes=12', 'codeDigits=8', 'sendsPerDay=8'])
  })

  test('shows a new API key once, after a fresh second factor, and revokes it (R85)', async () => {
    const { browser } = operators.admin
    await console.service.operator('test').createApplication('keyed')
    const path = '/console/applications/keyed/keys'
    advance(11 * 60)
    await post(browser, path, { mode: 'live' }).expect('location', /^\/console\/mfa/)
    await typeCode(operators.admin).expect(303)
    advance(30)
    const once = /name="once" value="([^"]+)"/.exec((await browser.get(path)).text)?.[1] ?? ''
    const fields = { mode: 'live', label: 'web <servers>', scopes: ['verify', 'read'], days: '30' }
    const created = await post(browser, path, { once, ...fields }).expect(200)
    const key = /class="once">([^<]+)</.exec(created.text)?.[1] ?? ''
    expect(await statusWith(key)).toBe(400)
    const again = await post(browser, path, { once, ...fields }).expect(422)
    expect(again.text).not.toContain(key)
    expect((await console.service.operator('test').listKeys('keyed')).length).toBe(1)
    const page = await read(operators.viewer.browser, path)
    expect(page).toContain('web <servers> live verify, read')
    expect(page).not.toContain('Revoke')
    await post(browser, path, { mode: 'live', label: 'x'.repeat(81) }).expect(422)
    const [{ id } = { id: '' }] = await console.service.operator('test').listKeys('keyed')
    const revoked = await post(browser, `${path}/revoke`, { id }).expect(200)
    expect(textOf(revoked.text)).toContain('revoked')
    // The page has the address of the revocation.
    expect(revoked.text).toMatch(new RegExp(`action="${path}">(?:(?!</form>)[^])*Create a key</button>`))
    expect(await statusWith(key)).toBe(401)
    await post(browser, `${path}/revoke`, { id }).expect(422)
  })

  /** The status of a request without parameters with an API key. */
  async function statusWith(key: string): Promise<number> {
    const response = await request(console.service.api).post('/v1/mfa').set('Authorization', `Bearer ${key}`)
    return response.status
  }

  test('removes one of the security keys of a user, and disables a kind of them (R106)', async () => {
    const { browser, email } = operators.support
    const api = console.service.operator('test')
    await api.changeSettings('default', {
      set: { relyingPartyId: 'example.com', relyingPartyOrigins: [KEY_PAGE.origin] },
    })
    const contact = { kind: 'email', email: 'zoe@example.com' } as const
    for (const name of ['Blue key', 'Red key']) {
      advance(1)
      await registerSoftwareKey(console.service.mfa, { account: 'zoe', contact }, 'security-key', { name })
    }
    await signInAgain(operators.support)
    const path = await findUser(browser, 'zoe')
    const page = await browser.get(path).expect(200)
    expect(textOf(page.text)).toMatch(/Blue key security key .* Remove Red key security key/)
    const [blue, red] = await api.listUserKeys({
      application: 'default',
      mode: 'live',
      user: 'zoe',
      isAccount: true,
    })
    expect(red?.name).toBe('Red key')
    const removed = await post(browser, `${path}/remove-key`, { key: blue?.id ?? '' }).expect(200)
    expect(textOf(removed.text)).toContain('The key is removed.')
    expect(textOf(removed.text)).not.toContain('Blue key')
    await post(browser, `${path}/remove-key`, { key: blue?.id ?? '' }).expect(422)
    const disabled = await post(browser, `${path}/disable`, { factor: 'security-key' }).expect(200)
    expect(textOf(disabled.text)).toContain('SECURITY_KEY 0 by an operator')
    const entries = await api.listAudit({ application: 'default', limit: 2 })
    expect(entries.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      `${email} factor.disabled`,
      `${email} factor.removed`,
    ])
  })

  test('finds a user by contact or name, without the contact in an address, and helps them (R46)', async () => {
    const { browser } = operators.support
    const api = console.service.operator('test')
    await api.createApplication('helped', { countries: ['GB'], failuresBeforeLock: 5 })
    const { key } = await api.createKey('helped', { mode: 'live' })
    const call = (path: string, fields: Record<string, string>) =>
      request(console.service.api).post(path).set('Authorization', `Bearer ${key}`).type('form').send(fields)
    const User = 'wendy@example.com'
    const { body } = await call('/v1/mfa', { User, Type: 'EMAIL' }).expect(200)
    for (let attempt = 0; attempt < 5; attempt++) {
      await call('/v1/mfa/verify', { User, Type: 'EMAIL', Code: 'XXXXXX', Challenge: body.challenge })
    }
    await post(operators.viewer.browser, '/console/search', { find: User }).expect(403)
    // Nothing found is no error, and its address can be opened again, without the contact in it.
    const nothing = await findUser(browser, 'nobody@example.com')
    expect(nothing).not.toContain('nobody')
    const unknown = await browser.get(nothing).expect(200)
    expect(textOf(unknown.text)).toContain('Nothing was found.')
    expect(unknown.text).not.toContain('mfa-message-error')
    expect(unknown.text).toContain('value="nobody@example.com"')
    await browser.get(await findUser(browser, ' ')).expect(422)
    await browser.get('/console/search?for=forged').expect(422)
    await browser.get('/console/applications/helped/users/of-nobody').expect(404)
    const path = await findUser(browser, User)
    expect(path).not.toContain('wendy')
    await read(operators.viewer.browser, path, 403)
    await browser.get(path.replace('helped', 'default')).expect(404)
    const found = await browser.get(path).expect(200)
    expect(found.text).not.toContain(User)
    const page = textOf(found.text)
    expect(page).toMatch(/Contact w•••@e•••, of helped/)
    expect(page).toMatch(/locked until .* UTC/)
    expect(page).toMatch(/message email to w.* sent by inbox/)
    expect(page).toContain('challenge email for sign-in 5 of 5 attempts')
    expect(page.match(/wrong code EMAIL/g)).toHaveLength(5)
    expect(page).not.toContain('for good')
    expect(textOf((await post(browser, `${path}/unlock`).expect(200)).text)).toContain('not locked')
    await post(browser, `${path}/unlock`).expect(422)
    await signInAgain(operators.support)
    const disabled = await post(browser, `${path}/disable`, { factor: User }).expect(200)
    expect(textOf(disabled.text)).toContain('by an operator')
    await post(browser, `${path}/disable`, { factor: 'fax' }).expect(422)

    await signInAgain(operators.admin)
    await post(operators.admin.browser, `${path}/erase`).expect(422)
    await post(operators.admin.browser, `${path}/erase`, { confirmed: 'on' }).expect(200)
    const erased = await browser.get(path).expect(404)
    expect(textOf(erased.text)).toContain('Nothing is known of this account.')
    expect(erased.text).toMatch(/<main[\s\S]*href="\/console\/applications\/helped"/)
    expect(await read(browser, await findUser(browser, User))).toContain('Nothing was found.')
    const actions = (await api.listAudit({ application: 'helped', limit: 10 })).map(
      ({ actor, action }) => `${actor} ${action}`,
    )
    expect(actions.slice(0, 3)).toEqual([
      `${operators.admin.email} user.erased`,
      `${operators.support.email} factor.disabled`,
      `${operators.support.email} user.unlocked`,
    ])
  })

  test('tells users with the same masked contact apart by their reference, which finds them again (R46)', async () => {
    const { browser } = operators.support
    const pages: (readonly (string | undefined)[])[] = []
    for (const email of ['winnie@example.com', 'warren@ebay.com']) {
      await console.service.mfa.send({ method: 'email', contact: { kind: 'email', email } })
      const shown = async (text: string) => {
        const { text: page } = await browser.get(await findUser(browser, text)).expect(200)
        const [, reference] = /<dt>Reference<\/dt><dd><code>([\da-f]{12})<\/code>/.exec(page) ?? []
        return [/<h1>(.*?)<\/h1>/.exec(page)?.[1], reference]
      }
      const page = await shown(email)
      expect(await shown(page[1] ?? '')).toEqual(page)
      pages.push(page)
    }
    expect(pages.map(([heading]) => heading)).toEqual(['w•••@e•••', 'w•••@e•••'])
    expect(new Set(pages.map(([, reference]) => reference)).size).toBe(2)
  })

  /** Signs in with a fresh second factor. */
  async function signInAgain(operator: SignedIn): Promise<void> {
    advance(60)
    await post(operator.browser, '/console/sign-out').expect(303)
    await typePassword(operator.browser, operator.email).expect(303)
    await typeCode(operator).expect(303)
  }

  test('lists messages by state, and pauses and resumes what is sent to phones (R103)', async () => {
    const { browser } = operators.support
    const api = console.service.operator('test')
    await api.createApplication('sends')
    const { key } = await api.createKey('sends', { mode: 'live' })
    await request(console.service.api)
      .post('/v1/mfa')
      .set('Authorization', `Bearer ${key}`)
      .type('form')
      .send({ User: 'walter@example.com', Type: 'EMAIL' })
      .expect(200)
    const path = '/console/applications/sends'
    expect(await read(operators.viewer.browser, `${path}/messages?state=sent`)).toMatch(
      /email \S+ sent – 1 inbox/,
    )
    expect(await read(browser, `${path}/messages?state=failed`)).toContain('There are no such messages.')
    expect(await read(browser, `${path}/messages?mode=test`)).toContain('There are no such messages.')
    const list = await browser.get(`${path}/messages`).expect(200)
    const id = /messages\/([\w-]{22})"/.exec(list.text)?.[1] ?? ''
    await post(browser, '/console/search', { find: id })
      .expect(303)
      .expect('location', `${path}/messages/${id}`)
    const one = await read(operators.viewer.browser, `${path}/messages/${id}`)
    expect(one).toMatch(/State sent Attempts 1 Carrier inbox/)
    expect(one).toMatch(/What happened .* written – .* sent by inbox/)
    expect(one).not.toContain('Show the user')
    await read(operators.viewer.browser, `${path}/messages/${id}/user`, 403)
    const { headers } = await browser.get(`${path}/messages/${id}/user`).expect(303)
    const user = await browser.get(String(headers.location)).expect(200)
    expect(user.text).toContain(`${path}/messages/${id}">email to`)
    expect(user.text).not.toContain('walter@example.com')
    const nobody = await browser.get(`${path}/messages/unknown/user`).expect(404)
    expect(textOf(nobody.text)).toMatch(/Nothing is stored about the user of this message. To the console/)
    await read(browser, `${path}/messages/${id}?mode=test`, 404)
    await read(browser, `/console/applications/default/messages/${id}`, 404)
    await post(browser, `${path}/messages/${id}/retry`, { mode: 'live' }).expect(422)
    await read(browser, `${path}/messages?after=x`, 422)
    const today = new Date().toISOString().slice(0, 10)
    const filters = `channel=email&carrier=inbox&from=${today}&to=${today}`
    expect(await read(browser, `${path}/messages?${filters}`)).toMatch(/email \S+ sent – 1 inbox/)
    expect(await read(browser, `${path}/messages?channel=sms`)).toContain('There are no such messages.')
    expect(await read(operators.viewer.browser, `${path}/traffic`)).toContain('No codes were sent to phones.')
    await post(operators.viewer.browser, `${path}/traffic/pause`, { destination: 'GB' }).expect(403)
    await post(browser, `${path}/traffic/pause`, { destination: 'Great Britain' }).expect(422)
    await post(browser, `${path}/traffic/pause`, { destination: 'GB' }).expect(200)
    expect(await read(browser, `${path}/traffic`)).toMatch(/GB 0 0 0 – paused Resume/)
    await post(browser, `${path}/traffic/resume`, { destination: 'GB' }).expect(200)
    await post(browser, `${path}/traffic/resume`, { destination: 'GB' }).expect(422)
  })

  test('lists the audit log page by page, also where changes have the same time', async () => {
    const { browser } = operators.viewer
    const api = console.service.operator('test')
    await api.createApplication('paged', {})
    for (let key = 0; key < 203; key++) await api.createKey('paged', { mode: 'live', label: `label-${key}` })
    const filter = '/console/audit?application=paged&action=key'
    const first = await browser.get(filter).expect(200)
    const labels = (page: string) => textOf(page).match(/label-\d+/g)
    expect(labels(first.text)).toHaveLength(200)
    const [, older = ''] = /<a href="([^"]+)">Older changes/.exec(first.text) ?? []
    const second = await browser.get(`/console/audit${decoded(older).replaceAll('&amp;', '&')}`).expect(200)
    expect(labels(second.text)).toEqual(['label-2', 'label-1', 'label-0'])
    expect(second.text).not.toContain('Older changes')
    await browser.get('/console/audit?before=x').expect(200)
  })

  test('filters the audit log, and exports it for spreadsheets and programs', async () => {
    const { browser } = operators.viewer
    const api = console.service.operator('=HYPERLINK("x")')
    await api.createApplication('audited', { name: 'Au"dited' })
    const page = await read(browser, '/console/audit?application=audited&action=application')
    expect(page).toContain('=HYPERLINK("x") audited application.created name=Au"dited')
    expect(page).not.toContain('operator.invited')
    for (const filter of [
      'action=application.c',
      `actor=${encodeURIComponent('=HYPERLINK("x")')}&action=app`,
    ]) {
      expect(await read(browser, `/console/audit?${filter}`)).toContain('audited application.created')
    }
    expect(await read(browser, '/console/audit?action=nothing')).toContain('There are no such changes.')
    expect(await read(browser, '/console/audit?actor=nobody')).toContain('There are no such changes.')
    const day = new Date().toISOString().slice(0, 10)
    expect(await read(browser, `/console/audit?from=${day}&to=${day}&application=audited`)).toContain(
      'Au"dited',
    )
    expect(await read(browser, '/console/audit?to=2001-01-01')).toContain('There are no such changes.')
    await read(browser, '/console/audit?application=unknown', 422)
    const csv = await browser.get('/console/audit.csv?application=audited').expect(200)
    expect(csv.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename=audit.csv',
    })
    const lines = csv.text.split('\r\n').slice(0, 2)
    expect(lines.map((line) => line.replace(/"20[^"]+"/, 'TIME'))).toEqual([
      '"at","actor","application","action","detail"',
      `TIME,"'=HYPERLINK(""x"")","audited","application.created","name=Au""dited"`,
    ])
    const exported = await browser.get('/console/audit.jsonl?application=audited').buffer().expect(200)
    const text = exported.text ?? String(exported.body)
    expect(JSON.parse(text)).toMatchObject({ actor: '=HYPERLINK("x")', action: 'application.created' })
  })

  test('sets, shows and removes the webhook of an application, and shows its secret once (R105)', async () => {
    const { browser } = operators.admin
    await console.service.operator('test').createApplication('hooked')
    const path = '/console/applications/hooked/webhook'
    await signInAgain(operators.admin)
    const refused = await post(browser, path, { url: 'http://10.0.0.7/hook', channels: ['sms'] }).expect(422)
    expect(refused.text).not.toContain('class="once"')
    const url = 'https://hooks.example/mfa?token=s3cr3t'
    const first = await post(browser, path, { url, channels: ['sms', 'call'] }).expect(200)
    const secret = /class="once">([^<]+)</.exec(first.text)?.[1] ?? ''
    expect(secret.length).toBeGreaterThan(30)
    const kept = await post(browser, path, { url, channels: 'sms' }).expect(200)
    expect(kept.text).not.toContain('class="once"')
    const page = await browser.get(path).expect(200)
    expect(textOf(page.text)).toContain('https://hooks.example/mfa?… Channels sms Former secret none')
    expect(page.text).not.toContain('s3cr3t')
    expect(page.text).not.toContain(secret)
    expect(await read(operators.viewer.browser, path)).not.toContain('Remove the webhook')
    expect((await post(browser, `${path}/rotate`).expect(200)).text).not.toContain(secret)
    expect(await read(browser, path)).toContain('also signs until')
    await post(browser, `${path}/remove`).expect(200)
    await post(browser, `${path}/remove`).expect(422)
    advance(11 * 60)
    await post(browser, path, { url, channels: 'sms' })
      .expect(303)
      .expect('location', /^\/console\/mfa/)
  })

  test('creates an endpoint for events, shows its secret once, and tests, resends, pauses and removes by role', async () => {
    const { browser } = operators.admin
    const { browser: helping } = operators.support
    await console.service.operator('test').createApplication('evented')
    const path = '/console/applications/evented/events'
    const receiver = await eventReceiver()
    onTestFinished(receiver.close)
    await signInAgain(operators.admin)
    const fields = (once: string) => ({
      url: `${receiver.url}/e?token=s3cr3t`,
      types: ['user.locked', 'key.revoked'],
      once,
    })
    await post(browser, path, { ...fields('1'), url: 'http://10.0.0.7/e' }).expect(422)
    const created = await post(browser, path, fields('2')).expect(200)
    const secretIn = (page: string) => decoded(/class="once">([^<]+)</.exec(page)?.[1] ?? '')
    const first = secretIn(created.text)
    expect(first).toMatch(/^whsec_/)
    expect(created.headers['content-security-policy']).toContain("script-src 'self'")
    const repeated = await post(browser, path, fields('2')).expect(422)
    expect([secretIn(repeated.text), textOf(repeated.text)]).toEqual([
      '',
      expect.stringContaining('sent already'),
    ])
    const [endpoint] = await console.service.operator('test').events.list('evented')
    const own = `${path}/${endpoint?.id}`

    receiver.state.secrets = [first]
    expect(textOf((await post(helping, `${own}/test`).expect(200)).text)).toContain(
      'accepted the event (204)',
    )
    const event = receiver.events[0]?.id ?? ''
    receiver.state.status = 500
    receiver.state.body = '<b>broken</b>'
    const failed = await post(helping, `${own}/resend`, { event }).expect(422)
    expect(textOf(failed.text)).toContain('The endpoint responded with 500.')
    expect(failed.text).toContain('&#60;b&#62;broken')
    await post(helping, `${own}/resend`, { event: 'evt_none' }).expect(422)
    expect(await read(operators.viewer.browser, own)).toMatch(
      /State active failing since .*webhook\.test.*500/,
    )
    expect(await read(operators.viewer.browser, own)).not.toMatch(/Pause|Resend|Replace/)
    expect(textOf((await post(helping, `${own}/pause`).expect(200)).text)).toContain('State paused')
    expect(await read(operators.viewer.browser, path)).toMatch(/paused/)
    await post(helping, `${own}/resume`).expect(200)
    await post(helping, `${own}/rotate`).expect(403)
    const second = secretIn((await post(browser, `${own}/rotate`).expect(200)).text)
    expect([second.startsWith('whsec_'), second === first]).toEqual([true, false])
    const page = (await browser.get(own).expect(200)).text
    for (const hidden of [first, second, 's3cr3t']) expect(page).not.toContain(hidden)
    await helping.post(`${own}/pause`).set('Sec-Fetch-Site', 'cross-site').expect(403)
    await post(browser, `${own}/remove`).expect(303).expect('location', path)
    await read(browser, own, 404)
    advance(11 * 60)
    await post(browser, path, fields('3'))
      .expect(303)
      .expect('location', /^\/console\/mfa/)
  })

  test('shows numbers as tables that need no script, and warns where few codes are typed', async () => {
    const { browser } = operators.viewer
    const api = console.service.operator('test')
    await api.createApplication('counted', { minConversionPercent: 0, countries: ['FR'] })
    const { key } = await api.createKey('counted', { mode: 'live' })
    const call = (path: string, fields: Record<string, string>) =>
      request(console.service.api).post(path).set('Authorization', `Bearer ${key}`).type('form').send(fields)
    const User = '+33612345678'
    for (let count = 0; count < 20; count++) {
      await call('/v1/mfa', { User: `+336123400${10 + count}`, Type: 'SMS' }).expect(200)
    }
    const { body } = await call('/v1/mfa', { User, Type: 'SMS' }).expect(200)
    await call('/v1/mfa/verify', { User, Type: 'PHONE', Code: 'XXXXXX', Challenge: body.challenge })
    const path = '/console/applications/counted/numbers'
    // Counts are written once a second.
    await expect.poll(() => read(browser, `${path}?period=hour`)).toContain('sms 21 0 0 21 0 1 0')
    const page = await read(browser, `${path}?period=hour`)
    expect(page).toContain('FR 21 0 0 % – 0 0 1 few are typed')
    expect(page).toContain('Few codes are typed in FR (0 %). It may be SMS pumping')
    expect(page).toContain('inbox 21 0 0 21 0 1 0')
    expect(await read(browser, `${path}?period=month`)).toContain('sms 21 0 0 21 0 1 0')
    expect(await read(browser, `${path}?period=century`)).toMatch(/\d\d:00 21 0 0 21 0 1 0/)
    const all = await browser.get('/console/health?period=hour').expect(200)
    expect(textOf(all.text)).toContain('FR 21 0 0 %')
    expect(all.headers['content-security-policy']).toContain("script-src 'self'; connect-src 'self'")
    for (const [, source] of all.text.matchAll(/<script defer src="([^"]+)">/g)) {
      await browser
        .get(source ?? '')
        .expect(200)
        .expect('content-type', /^text\/javascript/)
    }
    const other = await browser.get('/console/audit').expect(200)
    expect(other.headers['content-security-policy']).not.toContain('connect-src')
  })

  test('shows the queue, and what the doctor finds', async () => {
    const page = await read(operators.viewer.browser, '/console/health')
    expect(page).toContain('Messages that wait 0 Due by now 0 Oldest due message –')
    expect(page).toMatch(/ok database pglite/)
    expect(page).toMatch(/warning API keys The application "default" has no live key/)
  })

  test('links each application that a finding names to its setting', async () => {
    const api = console.service.operator('test')
    for (const application of ['nameless', 'wordless']) await api.createApplication(application)
    const { text } = await operators.viewer.browser.get('/console/health').expect(200)
    for (const application of ['nameless', 'wordless'])
      for (const setting of ['name', 'countries'])
        expect(text).toContain(
          `&#34;<a href="/console/applications/${application}?setting=${setting}#${setting}">${application}</a>&#34;`,
        )
  })

  test('computes its findings from the numbers that their page shows', async () => {
    const { text } = await operators.viewer.browser.get('/console/health').expect(200)
    const page = textOf(text)
    const [, sent, lost] = /In the last 24 hours (\d+) messages were sent and (\d+) were not/.exec(page) ?? []
    expect(page).toMatch(new RegExp(`Sent ${sent} Delivered \\d+ Failed ${lost} Codes`))
    const [, codes, typed] = /(\d+) codes were sent to phones and (\d+) were typed/.exec(page) ?? []
    const countries = /id="countries"[\s\S]*?<tbody>([\s\S]*?)<\/tbody>/.exec(text)?.[1] ?? ''
    const rows = [...textOf(countries).matchAll(/[A-Z]{2} (\d+) (\d+) /g)]
    const sumOf = (column: number) => rows.reduce((sum, row) => sum + Number(row[column]), 0)
    expect([Number(codes), Number(typed)]).toEqual([sumOf(1), sumOf(2)])
    expect(sumOf(1)).toBeGreaterThan(20)
  })

  test('has an inbox with what test keys send', async () => {
    const api = console.service.operator('test')
    await api.createApplication('tested')
    const { key } = await api.createKey('tested', { mode: 'test' })
    await request(console.service.api)
      .post('/v1/mfa')
      .set('Authorization', `Bearer ${key}`)
      .type('form')
      .send({ User: 'ann@example.com', Type: 'EMAIL' })
      .expect(200)
    const path = '/console/applications/tested/inbox'
    await read(operators.viewer.browser, path, 403)
    const { browser } = operators.support
    const inbox = await read(browser, path)
    expect(inbox).toMatch(/Inbox of test keys .* Email to ann@example\.com .* UTC , subject: .*\d{6}/)
    const live = await read(browser, `${path}?mode=live`)
    expect(live).toContain('There are no messages. Send one with a live key.')
  })

  test('answers an unknown address and a body that cannot be read with a page', async () => {
    const { browser } = operators.viewer
    expect(await read(browser, '/console/nothing', 404)).toContain('There is no page at this address.')
    await browser
      .post('/console/sign-out')
      .type('form')
      .send(`a=${'x'.repeat(70_000)}`)
      .expect(413)
  })
})
