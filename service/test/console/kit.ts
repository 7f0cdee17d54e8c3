import request from 'supertest'
import { expect } from 'vitest'
import { serverOf } from '../../../test/kit/open-servers.js'
import type { Role } from '../../src/operator/rights.js'
import { createService } from '../../src/run/create-service.js'
import type { ServiceOptions } from '../../src/run/options.js'
import type { CountersignService } from '../../src/run/service.js'
import type { LogEvent } from '../../src/telemetry/log/logger.js'
import { advance, appCode, listen, SECRET } from '../kit.js'

/** A browser: it keeps its cookies, and its forms come from pages of the console. */
export type Browser = ReturnType<typeof request.agent>

/** An operator in a browser. */
export interface SignedIn {
  readonly browser: Browser
  readonly email: string
  /** The secret of the authenticator app. */
  readonly secret: string
}

/** A service with the console, in memory unless its options say otherwise. */
export interface TestConsole {
  readonly service: CountersignService
  readonly events: readonly LogEvent[]
  /** A browser without cookies. */
  open(): Browser
  /** The path of the link in a new invitation. */
  invite(email: string, role?: Role): Promise<string>
  /** Invites an operator at the command line, and has them follow the link. */
  signUp(role: Role, email?: string): Promise<SignedIn>
  /** Follows the link of an invitation: chooses a password, signs in and sets up an authenticator app. */
  join(link: string, email: string): Promise<SignedIn>
}

export const PASSWORD = 'seven quiet otters float'

let operators = 0

export async function openConsole(
  console: ServiceOptions['console'] = {},
  more: Partial<ServiceOptions> = {},
): Promise<TestConsole> {
  const events: LogEvent[] = []
  const logger = (event: LogEvent) => void events.push(event)
  const service = await createService({ secret: SECRET, delivery: 'inbox', console, logger, ...more })
  const invite = async (email: string, role?: Role) => {
    const { token } = await service.operator('system').inviteOperator({ email, role })
    return `/console/invitation/${token}`
  }
  const open = () => {
    if (!service.console) throw new Error('The service has no console.')
    const browser = request.agent(serverOf(service.console))
    browser.set('Sec-Fetch-Site', 'same-origin')
    browser.set('Accept', 'text/html')
    return browser
  }
  const join = async (link: string, email: string) => {
    const browser = open()
    await post(browser, link, { password: PASSWORD, again: PASSWORD }).expect(307)
    await typePassword(browser, email).expect(303)
    const secret = await enrollApp(browser)
    // The step of the code is used up.
    advance(60)
    return { browser, email, secret }
  }
  return {
    service,
    events,
    open,
    invite,
    join,
    signUp: async (role, email = `${role}${++operators}@example.com`) =>
      join(await invite(email, role), email),
  }
}

/** A console at an address, for real browsers. */
export interface ServedConsole extends TestConsole {
  readonly url: string
  close(): Promise<void>
}

/** Opens a console on a free port of `localhost`, which it knows as its own address. */
export async function serveConsole(
  console: ServiceOptions['console'] = {},
  more: Partial<ServiceOptions> = {},
): Promise<ServedConsole> {
  let opened: TestConsole | undefined
  const server = await listen((asked, response) => opened?.service.console?.(asked, response))
  const url = server.url.replace('127.0.0.1', 'localhost')
  opened = await openConsole({ ...console, url }, more)
  const { service } = opened
  return {
    ...opened,
    url,
    async close() {
      await server.close()
      await service.close()
    },
  }
}

/** Posts a form. */
export function post(browser: Browser, path: string, fields: Record<string, string | string[]> = {}) {
  return browser.post(path).type('form').send(fields)
}

export function typePassword(browser: Browser, email: string, password = PASSWORD) {
  return post(browser, '/console/sign-in', { email, password })
}

/** Shows the second factor. */
export function typeCode({ browser, secret }: SignedIn) {
  return post(browser, '/console/mfa/verify', { factor: 'app', code: appCode(secret) })
}

/** Sets up an authenticator app in a pending login, and returns its secret. */
export async function enrollApp(browser: Browser): Promise<string> {
  const { body } = await browser
    .post('/console/mfa/enroll-app')
    .set('Accept', 'application/json')
    .send({})
    .expect(200)
  const secret = String(body.secret)
  await post(browser, '/console/mfa/enroll-app/confirm', { code: appCode(secret) }).expect(303)
  return secret
}

/** Searches for a user by a name, contact or reference; returns the path to which the search leads. */
export async function findUser(browser: Browser, text: string): Promise<string> {
  const { headers } = await post(browser, '/console/search', { find: text }).expect(303)
  return String(headers.location)
}

/** The text of a page, without markup. */
export function textOf(html: string): string {
  return decoded(html.replace(/<head>[\s\S]*<\/head>|<[^>]+>/g, ' ')).replace(/\s+/g, ' ')
}

/** Text that was escaped for HTML. */
export function decoded(text: string): string {
  return text.replace(/&#(\d+);/g, (_entity, code) => String.fromCharCode(Number(code)))
}

/** The text of a page that is shown. */
export async function read(browser: Browser, path: string, status = 200): Promise<string> {
  const response = await browser.get(path)
  expect(`${response.status} ${path}`).toBe(`${status} ${path}`)
  return textOf(response.text)
}

/** The fields of the settings form of an application, as a browser would post them. */
export async function settingsForm(
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
