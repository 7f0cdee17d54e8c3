import request from 'supertest'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { PAGE_ROUTES } from '../../src/console/routes.js'
import { SETTING_NAMES } from '../../src/operator/parse-settings.js'
import { isAtLeast, ROLES, type Role } from '../../src/operator/role.js'
import { advance, stopClock } from '../kit.js'
import {
  type Browser,
  decoded,
  openConsole,
  post,
  read,
  type SignedIn,
  type TestConsole,
  textOf,
  typeCode,
} from './kit.js'

describe('the pages of the console', () => {
  let console: TestConsole
  let operators: Readonly<Record<Role, SignedIn>>
  beforeAll(async () => {
    stopClock()
    console = await openConsole()
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
    test.each(PAGE_ROUTES.map((route) => ({ ...route, title: `${route.method} ${route.path}` })))(
      '$title requires the role $least',
      async ({ method, path, least }) => {
        const url = path.replace(/:\w+/g, 'unknown')
        const statusOf = async (browser: SignedIn['browser']) =>
          (method === 'get' ? await browser.get(url) : await post(browser, url)).status
        expect(await statusOf(console.open())).toBe(303)
        for (const role of ROLES) {
          const status = await statusOf(operators[role].browser)
          expect([role, status === 403]).toEqual([role, !isAtLeast(role, least)])
          expect(status).toBeLessThan(500)
        }
      },
    )

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

  /** The fields of the settings form of an application, as a browser would post them. */
  async function settingsForm(
    browser: Browser,
    application: string,
  ): Promise<Record<string, string | string[]>> {
    const { text } = await browser.get(`/console/applications/${application}`).expect(200)
    const fields: Record<string, string | string[]> = {}
    for (const [tag, type = 'text', name = '', value = ''] of text.matchAll(
      /<(?:input(?: type="(\w+)")?|textarea)(?: id="[^"]*")? name="([^"]+)"(?: value="([^"]*)")?[^>]*>/g,
    )) {
      if (type === 'checkbox' && !tag.includes(' checked')) continue
      fields[name] = type === 'checkbox' ? [...(fields[name] ?? []), value || 'on'] : decoded(value)
    }
    return fields
  }

  test('creates applications, and shows every setting with its default and allowed range', async () => {
    const { browser } = operators.admin
    const refused = await post(browser, '/console/applications', { application: 'Shop!' }).expect(422)
    expect(textOf(refused.text)).toContain('use 1 to 40 lowercase letters, digits and dashes')
    await post(browser, '/console/applications', { application: 'shop', countries: 'gb' }).expect(422)
    await post(browser, '/console/applications', { application: 'shop', countries: 'GB,DE' })
      .expect(303)
      .expect('location', '/console/applications/shop')
    expect(await read(browser, '/console/applications?search=sho')).toContain('shop standard 0 0')
    expect(await read(browser, '/console/applications?search=other')).toContain(
      'No application has this name.',
    )
    const page = await read(operators.viewer.browser, '/console/applications/shop')
    expect(page).toContain(
      'How many codes are checked for one challenge. Allowed: 3 to 10 attempts. Default: 5.',
    )
    expect(page).toContain('Only administrators can change settings.')
    const shown = Object.keys(await settingsForm(browser, 'shop'))
    expect(SETTING_NAMES.filter((name) => !shown.includes(`was.${name}`))).toEqual([])
    await read(browser, '/console/applications/unknown', 404)
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
    const created = await post(browser, path, { once, mode: 'live', label: 'web <servers>' }).expect(200)
    const key = /class="once">([^<]+)</.exec(created.text)?.[1] ?? ''
    expect(await statusWith(key)).toBe(400)
    const again = await post(browser, path, { once, mode: 'live', label: 'web <servers>' }).expect(422)
    expect(again.text).not.toContain(key)
    expect((await console.service.operator('test').listKeys('keyed')).length).toBe(1)
    const page = await read(operators.viewer.browser, path)
    expect(page).toContain('web <servers> live')
    expect(page).not.toContain('Revoke')
    await post(browser, path, { mode: 'live', label: 'x'.repeat(81) }).expect(422)
    const [{ id } = { id: '' }] = await console.service.operator('test').listKeys('keyed')
    expect(textOf((await post(browser, `${path}/revoke`, { id }).expect(200)).text)).toContain('revoked')
    expect(await statusWith(key)).toBe(401)
    await post(browser, `${path}/revoke`, { id }).expect(422)
  })

  /** The status of a request without parameters with an API key. */
  async function statusWith(key: string): Promise<number> {
    const response = await request(console.service.api).post('/v1/mfa').set('Authorization', `Bearer ${key}`)
    return response.status
  }

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
