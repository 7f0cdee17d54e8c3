import axe from 'axe-core'
import type { Browser, Page, Response } from 'playwright-core'
import { expect } from 'vitest'
import { LOOKS, newUser } from '../../../test/journeys/kit/browser.js'
import { press } from '../../../test/journeys/kit/vault.js'
import { DEAD_END, pageFaults, WIDER_THAN_THEIR_PLACE } from '../../../test/kit/page-checks.js'
import { advance, eventually, listen } from '../kit.js'
import { KEY_PAGE, registerSoftwareKey } from '../software-key.js'
import {
  findUser,
  PASSWORD,
  type ServedConsole,
  type SignedIn,
  serveConsole,
  type TestConsole,
  typeCode,
} from './kit.js'

/** A page of the console. */
export interface State {
  readonly name: string
  readonly path: string
  /** Defaults to 200. */
  readonly status?: number
  /** Who opens it. Defaults to an administrator. */
  readonly by?: Who
  /** The button that is pressed on the page at the path: the state is the page that follows. Defaults to none. */
  readonly press?: string | RegExp
  /** The values entered beforehand, by the names of fields; `true` ticks a box. */
  readonly entries?: Readonly<Record<string, string | true>>
}

/** Operators by role, a visitor who is not signed in, and the operator of a console where nothing is wrong. */
type Who = 'admin' | 'support' | 'viewer' | 'visitor' | 'calm'

/** The pages of an application whose settings were changed. */
export const OWN = '/console/applications/vault'
const LONGEST_NAME = 'a-very-long-name-of-an-application-12345'

/** The width of the smallest phone, at which pages are opened, and those of a usual phone and a desktop. */
const WIDTHS = [320, 390, 1280] as const

/** Words that are broken inside, although a line would hold them: scopes, badges, headings of columns. */
const BROKEN_WORDS = `[...document.querySelectorAll('.badge, .checks code, th')]
  .filter((one) => one.checkVisibility() && one.getClientRects().length > 1)
  .map((one) => one.outerHTML.slice(0, 80))`

/** The rows that stand at the top of a page before its content. */
const ROWS_OF_HEADER = `new Set([...document.querySelectorAll('header, header > *, body > nav')]
  .filter((one) => one.checkVisibility() && one.clientHeight > 0 && one.tagName !== 'HEADER')
  .map((one) => Math.round((one.getBoundingClientRect().top + one.getBoundingClientRect().bottom) / 40))).size`

/** Why the content of a state leads nowhere. The menu and the tabs of its page do. */
const LEADS_NOWHERE: Readonly<Record<string, string>> = {
  numbers: 'numbers are read',
  'numbers-none': 'numbers are read',
  'search-none': 'the field of the search has what was searched',
  'search-empty': 'the field of the search is empty',
  'consents-withdrawn': 'the list is empty',
  'settings-of-viewer': 'only administrators change settings',
  'keys-of-viewer': 'only administrators change keys',
  'traffic-of-viewer': 'viewers pause nothing',
  'endpoint-of-viewer': 'viewers change nothing; the tab leads to all endpoints',
}

/** A console with what its pages can show, and one where nothing is wrong. The clock must stand still. */
export async function consoleInEveryState(): Promise<{
  readonly console: ServedConsole
  readonly states: readonly State[]
  /** Opens states in a browser, in one page for each of those who open them. */
  opener(browser: Browser): (state: State) => Promise<Page>
  close(): Promise<void>
}> {
  const gateway = await listen(({ url }, response) => {
    response.writeHead(url === '/busy' ? 503 : 422, { 'Retry-After': '120' }).end()
  })
  const console = await serveConsole(
    { fourEyes: true },
    {
      apiKey: 'the-key-in-the-environment',
      limits: { failuresBeforeLock: 5 },
      delivery: { call: `${gateway.url}/busy`, whatsapp: `${gateway.url}/refuse`, '*': 'inbox' },
    },
  )
  const operators = {
    admin: await console.signUp('admin', 'ann@example.com'),
    support: await console.signUp('support', 'lee@example.com'),
    viewer: await console.signUp('viewer', 'gus@example.com'),
  }
  const states = await fill(console, operators)
  const calm = await calmConsole()
  const sessions = {
    ...{ admin: sessionOf(operators.admin), support: sessionOf(operators.support) },
    ...{ viewer: sessionOf(operators.viewer), visitor: undefined, calm: sessionOf(calm.viewer) },
  }
  return {
    console,
    states,
    opener(browser) {
      const pages = new Map<Who, Page>()
      return async (state) => {
        const { by = 'admin' } = state
        const { url } = by === 'calm' ? calm.console : console
        const page = pages.get(by) ?? (await newPage(browser, url, sessions[by]))
        pages.set(by, page)
        await openState(page, url, state)
        return page
      }
    },
    async close() {
      await console.close()
      await calm.console.close()
      await gateway.close()
    },
  }
}

/** The cookie of an operator. */
function sessionOf({ browser }: SignedIn): string | undefined {
  const [cookie] = browser.jar.getCookies({ domain: '127.0.0.1', path: '/', secure: false, script: false })
  return cookie?.value
}

async function newPage(browser: Browser, url: string, session: string | undefined): Promise<Page> {
  const { context, page } = await newUser(browser, { ...LOOKS['phone-light'], reducedMotion: 'reduce' })
  if (session !== undefined) await context.addCookies([{ name: 'console', value: session, url }])
  // Sent once, and not for each page.
  await context.addInitScript(axe.source)
  return page
}

/** Opens a state at the width of the smallest phone, with everything unfolded that does not lie over the page. */
async function openState(page: Page, url: string, opened: State): Promise<void> {
  const { name: state, path, status = 200, press: button, entries = {} } = opened
  const unfold = () =>
    page.evaluate('for (const one of document.querySelectorAll("main details")) one.open = true')
  await page.setViewportSize({ width: WIDTHS[0], height: 640 })
  let response: Response | null = await page.goto(url + path)
  await unfold()
  if (button !== undefined) {
    for (const [name, value] of Object.entries(entries)) {
      const field = page.locator(`main [name="${name}"]:not([type=hidden])`).first()
      if (value === true) await field.check()
      else await field.fill(value)
    }
    const isAnswer = (one: Response) =>
      one.request().isNavigationRequest() && ![302, 303, 307].includes(one.status())
    ;[response] = await Promise.all([page.waitForResponse(isAnswer), press(page, button)])
    await unfold()
  }
  expect([state, response?.status()]).toEqual([state, status])
}

/** The faults of an open page: what does not fit, what leads nowhere, and choices of one. */
export async function faultsOf(page: Page, { name, path }: State): Promise<readonly string[]> {
  const read = (what: string) => page.evaluate<string[]>(what)
  const leadsNowhere = name in LEADS_NOWHERE
  const faults: string[] = []
  // The pages of the second factor have no menu.
  const found = await pageFaults(page, { hasMenu: !path.startsWith('/console/mfa') })
  faults.push(...found.filter((one) => one !== DEAD_END || !leadsNowhere))
  if (leadsNowhere && !found.includes(DEAD_END)) faults.push('a way on, where none was expected')
  if ((await page.evaluate<number>(ROWS_OF_HEADER)) > 2) faults.push('more than two rows at the top')
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 640 })
    for (const one of await read(WIDER_THAN_THEIR_PLACE)) faults.push(`wide at ${width}: ${one}`)
    for (const one of await read(BROKEN_WORDS)) faults.push(`broken at ${width}: ${one}`)
  }
  return faults
}

/** A console whose overview finds nothing wrong, and an operator. */
async function calmConsole() {
  const console = await serveConsole({}, { applicationName: 'Vault' })
  const viewer = await console.signUp('viewer')
  const api = console.service.operator('ops')
  await api.changeSettings('default', { set: { countries: ['GB'] } })
  await api.createKey('default', { mode: 'live' })
  return { console, viewer }
}

/** Fills a console with what its pages can show, and returns the states. */
async function fill(
  { service, signUp }: TestConsole,
  { admin, support }: Readonly<Record<'admin' | 'support', SignedIn>>,
): Promise<readonly State[]> {
  const api = service.operator('ann@example.com')
  await api.createApplication(LONGEST_NAME)
  await api.createApplication('vault', { name: 'Vault', countries: ['GB'], sendsPerDay: 7, smsFrom: 'Vault' })
  await api.createKey('vault', { mode: 'live', label: 'web servers', scopes: ['verify', 'personal-data'] })
  await api.createKey('vault', { mode: 'live', label: 'old', lifetimeMs: 3_600_000 })
  const { id } = await api.createKey('vault', { mode: 'test', label: 'tests of the team' })
  await api.revokeKey('vault', id)
  await api.createKey(LONGEST_NAME, { mode: 'live', lifetimeMs: 86_400_000 })
  await api.pauseTraffic('vault', 'FR')
  await api.setWebhook(LONGEST_NAME, { url: 'https://hooks.example/mfa', channels: ['sms'] })
  const endpoint = await api.events.create('vault', {
    url: 'http://localhost:1/events',
    types: ['user.locked'],
  })
  await api.events.test({ application: 'vault', endpoint: endpoint.id })
  const { token } = await api.inviteOperator({ email: 'kim@example.com', role: 'support' })
  await api.disableOperator((await signUp('viewer', 'max@example.com')).email)

  const { mfa } = service
  for (let user = 10; user < 24; user++)
    await mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+4474001000${user}` } })
  const zoe = { kind: 'email', email: 'zoe@example.com' } as const
  for (const account of ['customer 1', 'customer 2']) await mfa.enrollApp({ contact: zoe, account })
  await api.changeSettings('default', {
    set: { relyingPartyId: 'example.com', relyingPartyOrigins: [KEY_PAGE.origin] },
  })
  advance(3_600)
  await registerSoftwareKey(mfa, { account: 'customer 1', contact: zoe }, 'passkey', { name: 'Zoe’s phone' })
  for (const one of [admin, support]) await typeCode(one).set('Accept', 'application/json').expect(200)
  const user = await findUser(admin.browser, 'customer 1')
  await support.browser.post(`${user}/disable`).type('form').send({ factor: 'app' }).expect(200)
  const locked = { kind: 'email', email: 'wendy@example.com' } as const
  for (let attempt = 0; attempt < 5; attempt++) {
    await mfa.send({ method: 'email', contact: locked })
    await mfa.verify({ method: 'email', contact: locked, kind: 'code', code: 'XXXXXX' })
    advance(60)
  }
  expect((await api.listLocked({ application: 'default', mode: 'live' })).count).toBe(1)
  // Counts are written once a second.
  await eventually(async () =>
    expect((await api.showActivity({ period: 'day' })).countries[0]?.codes).toBe(14),
  )
  for (const method of ['call', 'whatsapp'] as const)
    await mfa.send({ method, contact: { kind: 'phone', phone: '+447400100030' } })
  const one = '/console/applications/default'
  const messageThatIs = async (state: 'sent' | 'queued' | 'refused') => {
    const find = async () =>
      (await api.searchMessages({ application: 'default', mode: 'live', state, limit: 1 })).messages[0]?.id
    await eventually(async () => expect(await find()).toBeDefined())
    return `${one}/messages/${await find()}`
  }
  const [sent, queued, refused] = [
    await messageThatIs('sent'),
    await messageThatIs('queued'),
    await messageThatIs('refused'),
  ]
  const endpointPage = `${OWN}/events/${endpoint.id}`
  const invitation = `/console/invitation/${token}`
  const byViewer = { by: 'viewer' } as const
  const bySupport = { by: 'support' } as const
  const byVisitor = { by: 'visitor' } as const
  const states: readonly (readonly [string, string, Omit<State, 'name' | 'path'>?])[] = [
    ['overview', '/console'],
    ['overview-of-support', '/console', bySupport],
    ['overview-of-viewer', '/console', byViewer],
    ['overview-nothing-wrong', '/console', { by: 'calm' }],
    ['applications', '/console/applications'],
    ['applications-none', '/console/applications?search=nothing'],
    ['application-refused', '/console/applications', refusing('Create', { application: 'Shop!' })],
    ['settings', OWN],
    ['settings-of-viewer', OWN, byViewer],
    ['settings-of-default', one],
    ['settings-linked', `${OWN}?setting=methods#methods`],
    ['settings-long-name', `/console/applications/${LONGEST_NAME}`],
    ['settings-saved', OWN, { press: 'Save', entries: { attemptsPerChallenge: '4' } }],
    ['settings-refused', OWN, refusing('Save', { attemptsPerChallenge: '50' })],
    ['settings-lock-out', one, refusing('Save', { relyingPartyId: '' })],
    ['keys', `${OWN}/keys`],
    ['keys-of-viewer', `${OWN}/keys`, byViewer],
    ['keys-of-default', `${one}/keys`],
    ['key-new', `${OWN}/keys`, { press: 'Create a key', entries: { label: 'new' } }],
    ['key-revoked', `${OWN}/keys`, { press: 'Revoke old' }],
    ['locked', `${one}/locked`],
    ['locked-of-viewer', `${one}/locked`, byViewer],
    ['locked-none', `${OWN}/locked`],
    ['messages', `${one}/messages`],
    ['messages-none', `${OWN}/messages`],
    ['messages-refused', `${OWN}/messages?after=x`, { status: 422 }],
    ['message', sent],
    ['message-of-viewer', sent, byViewer],
    ['message-refused', refused],
    ['message-waiting', queued],
    ['message-retried', queued, { press: 'Send again now' }],
    ['numbers', `${one}/numbers?period=hour`],
    ['numbers-none', `${OWN}/numbers`],
    ['traffic', `${one}/traffic`],
    ['traffic-of-viewer', `${one}/traffic`, byViewer],
    ['traffic-paused', `${OWN}/traffic`],
    ['traffic-refused', `${OWN}/traffic`, refusing(/^Pause$/, { destination: 'Great Britain' })],
    ['traffic-resumed', `${OWN}/traffic`, { press: 'Resume FR' }],
    ['webhook', `/console/applications/${LONGEST_NAME}/webhook`],
    ['webhook-of-viewer', `/console/applications/${LONGEST_NAME}/webhook`, byViewer],
    ['webhook-none', `${OWN}/webhook`],
    ['webhook-refused', `${OWN}/webhook`, refusing('Save the webhook', { url: 'http://10.0.0.7/hook' })],
    ['webhook-secret', `/console/applications/${LONGEST_NAME}/webhook`, { press: 'Replace the secret' }],
    ['events', `${OWN}/events`],
    ['endpoint', endpointPage],
    ['endpoint-of-viewer', endpointPage, byViewer],
    ['endpoint-failing', endpointPage, refusing('Send a test event')],
    ['endpoint-secret', endpointPage, { press: 'Replace the secret' }],
    ['endpoint-refused', `${OWN}/events`, refusing('Create the endpoint', { url: 'http://10.0.0.7/hook' })],
    ['endpoint-paused', endpointPage, { press: 'Pause' }],
    ['inbox', `${one}/inbox?mode=live`],
    ['inbox-none', `${OWN}/inbox`],
    ['user', user],
    ['user-of-support', user, bySupport],
    ['user-locked', await findUser(admin.browser, locked.email)],
    ['user-not-confirmed', user, refusing('Erase')],
    ['user-nothing-changed-yet', user, { press: 'Erase', entries: { confirmed: true } }],
    ['search-several', await findUser(admin.browser, 'customer')],
    ['search-none', await findUser(admin.browser, 'nobody@example.com')],
    ['search-empty', await findUser(admin.browser, ' '), { status: 422 }],
    ['consents', '/console/approvals'],
    ['consents-of-support', '/console/approvals', bySupport],
    ['consents-given', '/console/approvals', { press: 'Consent' }],
    ['consents-withdrawn', '/console/approvals', { press: 'Withdraw' }],
    ['unlocked', `${one}/locked`, { press: 'Unlock 1 user' }],
    ['audit', '/console/audit'],
    ['audit-none', '/console/audit?actor=nobody'],
    ['audit-refused', '/console/audit?application=unknown', { status: 422 }],
    ['health', '/console/health'],
    ['operators', '/console/operators'],
    ['operator-refused', '/console/operators', refusing(/^Invite$/, { email: 'ann@example.com' })],
    ['operator-invited', '/console/operators', { press: /^Invite$/, entries: { email: 'new@example.com' } }],
    ['own-factors', '/console/mfa'],
    ['own-keys', '/console/mfa/keys'],
    ['own-app', '/console/mfa/enroll-app'],
    ['not-found', '/console/nothing', { status: 404 }],
    ['not-allowed', '/console/operators', { ...byViewer, status: 403 }],
    ['user-unknown', `${one}/users/unknown`, { status: 404 }],
    ['sign-in', '/console/sign-in', byVisitor],
    [
      'sign-in-refused',
      '/console/sign-in',
      { ...byVisitor, ...signingIn('ann@example.com', 'wrong'), status: 401 },
    ],
    ['invitation-void', '/console/invitation/unknown', { ...byVisitor, status: 404 }],
    ['invitation', invitation, byVisitor],
    ['invitation-refused', invitation, { ...byVisitor, ...choosing('another one'), status: 422 }],
    // From here on, the visitor has a pending login.
    ['app-required', invitation, { ...byVisitor, ...choosing(PASSWORD) }],
    ['code', '/console/sign-in', { ...byVisitor, ...signingIn('ann@example.com') }],
  ]
  return states.map(([name, path, more]) => ({ name, path, ...more }))
}

/** A form that is not accepted. */
const refusing = (button: string | RegExp, entries: State['entries'] = {}) =>
  ({ status: 422, press: button, entries }) as const

/** The password of a sign-in. */
const signingIn = (email: string, password = PASSWORD) =>
  ({ press: 'Continue', entries: { email, password } }) as const

/** A new password, and the same again. */
const choosing = (again: string) =>
  ({ press: 'Set the password', entries: { password: PASSWORD, again } }) as const
