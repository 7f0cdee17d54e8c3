import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { LOOKS, newUser } from '../../../test/journeys/kit/browser.js'
import { openGateway } from '../../../test/journeys/kit/gateway.js'
import { axeViolations } from '../../../test/kit/axe.js'
import { MISSING_FRAGMENTS, WAYS_ON, WIDER_THAN_THEIR_PLACE } from '../../../test/kit/page-checks.js'
import { advance, eventually } from '../kit.js'
import {
  findUser,
  type ServedConsole,
  type SignedIn,
  serveConsole,
  type TestConsole,
  typeCode,
} from './kit.js'

/** A page of the console, and its status if it is another than 200. */
export type State = readonly [name: string, path: string, status?: number]

/** The pages of an application whose settings were changed. */
export const OWN = '/console/applications/vault'
const LONGEST_NAME = 'a-very-long-name-of-an-application-12345'

/** Choosers with one option: lists, groups of radio buttons, and navigations. */
const CHOICES_OF_ONE = `[...document.querySelectorAll('select, fieldset:has([type=radio]), nav ul')]
  .filter((one) => one.querySelectorAll('option, [type=radio], a').length < 2)
  .map((one) => one.outerHTML.slice(0, 80))`

/** Words that are broken inside, although a line would hold them: scopes, badges, headings of columns. */
const BROKEN_WORDS = `[...document.querySelectorAll('.badge, .checks code, th')]
  .filter((one) => one.checkVisibility() && one.getClientRects().length > 1)
  .map((one) => one.outerHTML.slice(0, 80))`

/** States that differ from another one by a sentence; axe takes a second for each. */
const ALIKE = /-(none|refused|linked|paused|of-default|long-name|empty|unknown)$/

/** The rows that stand at the top of a page before its content. */
const ROWS_OF_HEADER = `new Set([...document.querySelectorAll('header, header > *, body > nav')]
  .filter((one) => one.checkVisibility() && one.clientHeight > 0 && one.tagName !== 'HEADER')
  .map((one) => Math.round((one.getBoundingClientRect().top + one.getBoundingClientRect().bottom) / 40))).size`

/** A console with what its pages can show. The clock must stand still. */
export async function consoleInEveryState(): Promise<{
  readonly console: ServedConsole
  readonly states: readonly State[]
  /** A page of an administrator who is signed in. */
  open(browser: Browser): Promise<Page>
}> {
  const gateway = await openGateway()
  gateway.answer(422)
  const console = await serveConsole(
    { fourEyes: true },
    {
      apiKey: 'the-key-in-the-environment',
      limits: { failuresBeforeLock: 5 },
      delivery: { call: gateway.url, '*': 'inbox' },
    },
  )
  const admin = await console.signUp('admin', 'ann@example.com')
  const states = await fill(console, admin)
  const [cookie] = admin.browser.jar.getCookies({
    ...{ domain: '127.0.0.1', path: '/', secure: false, script: false },
  })
  const close = async () => {
    await console.close()
    await gateway.close()
  }
  return {
    console: { ...console, close },
    states,
    async open(browser) {
      const { context, page } = await newUser(browser, { ...LOOKS['phone-light'], reducedMotion: 'reduce' })
      await context.addCookies([{ name: 'console', value: cookie?.value ?? '', url: console.url }])
      return page
    },
  }
}

/** Opens a page at the width of the smallest phone, with everything unfolded that does not lie over the page. */
export async function openState(page: Page, url: string, [, path, status = 200]: State): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 })
  expect([path, (await page.goto(url + path))?.status()]).toEqual([path, status])
  await page.evaluate('for (const one of document.querySelectorAll("main details")) one.open = true')
}

/** What is wrong with an open page: what axe finds, what does not fit, what leads nowhere, and choices of one. */
export async function faultsOf(page: Page, [name]: State): Promise<readonly string[]> {
  const read = (what: string) => page.evaluate<string[]>(what)
  return [
    ...(ALIKE.test(name) ? [] : await axeViolations(page)),
    ...(await read(WIDER_THAN_THEIR_PLACE)).map((one) => `wide: ${one}`),
    ...(await read(BROKEN_WORDS)).map((one) => `broken: ${one}`),
    ...(await read(MISSING_FRAGMENTS)).map((one) => `leads nowhere: ${one}`),
    ...(await read(CHOICES_OF_ONE)).map((one) => `one choice: ${one}`),
    ...((await page.evaluate<number>(ROWS_OF_HEADER)) > 2 ? ['more than two rows at the top'] : []),
    ...((await read(WAYS_ON)).length === 0 ? ['a dead end'] : []),
  ]
}

/** Fills a console with what its pages can show; returns the path of each state, and its status if it is another than 200. */
async function fill({ service, signUp }: TestConsole, admin: SignedIn) {
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
  await api.inviteOperator({ email: 'kim@example.com', role: 'support' })
  const support = await signUp('support', 'lee@example.com')
  await api.disableOperator((await signUp('viewer', 'max@example.com')).email)

  const { mfa } = service
  for (let user = 10; user < 24; user++)
    await mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+4474001000${user}` } })
  for (const account of ['customer 1', 'customer 2'])
    await mfa.enrollApp({ contact: { kind: 'email', email: 'zoe@example.com' }, account })
  advance(3_600)
  for (const one of [admin, support]) await typeCode(one).set('Accept', 'application/json').expect(200)
  const user = await findUser(admin.browser, 'customer 1')
  await support.browser.post(`${user}/disable`).type('form').send({ factor: 'app' }).expect(200)
  const locked = { kind: 'email', email: 'wendy@example.com' } as const
  for (let attempt = 0; attempt < 5; attempt++) {
    await mfa.send({ method: 'email', contact: locked })
    await mfa.verify({ method: 'email', contact: locked, kind: 'code', code: 'XXXXXX' })
    advance(60)
  }
  await mfa.send({ method: 'call', contact: { kind: 'phone', phone: '+447400100030' } })
  expect((await api.listLocked({ application: 'default', mode: 'live' })).count).toBe(1)
  const { messages } = await api.searchMessages({ application: 'default', mode: 'live', limit: 1 })
  // Counts are written once a second.
  await eventually(async () =>
    expect((await api.showActivity({ period: 'day' })).countries[0]?.codes).toBe(14),
  )
  const one = '/console/applications/default'
  return [
    ['overview', '/console'],
    ['applications', '/console/applications'],
    ['applications-none', '/console/applications?search=nothing'],
    ['settings', OWN],
    ['settings-of-default', one],
    ['settings-linked', `${OWN}?setting=methods#methods`],
    ['settings-long-name', `/console/applications/${LONGEST_NAME}`],
    ['keys', `${OWN}/keys`],
    ['keys-of-default', `${one}/keys`],
    ['locked', `${one}/locked`],
    ['locked-none', `${OWN}/locked`],
    ['messages', `${one}/messages`],
    ['messages-none', `${OWN}/messages`],
    ['messages-refused', `${OWN}/messages?after=x`, 422],
    ['message', `${one}/messages/${messages[0]?.id}`],
    ['numbers', `${one}/numbers?period=hour`],
    ['numbers-none', `${OWN}/numbers`],
    ['traffic', `${one}/traffic`],
    ['traffic-paused', `${OWN}/traffic`],
    ['webhook', `/console/applications/${LONGEST_NAME}/webhook`],
    ['webhook-none', `${OWN}/webhook`],
    ['events', `${OWN}/events`],
    ['endpoint', `${OWN}/events/${endpoint.id}`],
    ['inbox', `${one}/inbox?mode=live`],
    ['inbox-none', `${OWN}/inbox`],
    ['user', user],
    ['user-locked', await findUser(admin.browser, locked.email)],
    ['search-several', await findUser(admin.browser, 'customer')],
    ['search-none', await findUser(admin.browser, 'nobody@example.com')],
    ['search-empty', await findUser(admin.browser, ' '), 422],
    ['approvals', '/console/approvals'],
    ['audit', '/console/audit'],
    ['audit-none', '/console/audit?actor=nobody'],
    ['audit-refused', '/console/audit?application=unknown', 422],
    ['health', '/console/health'],
    ['operators', '/console/operators'],
    ['not-found', '/console/nothing', 404],
    ['user-unknown', `${one}/users/unknown`, 404],
    ['invitation-void', '/console/invitation/unknown', 404],
    ['sign-in', '/console/sign-in'],
  ] as const
}
