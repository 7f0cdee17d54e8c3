import { totpCode } from '../../../src/testing/service.js'
import type { Browser } from './browser.js'
import { CONSOLE_URL, type Deployment } from './deployment.js'
import { nextAppCode } from './users.js'

const PASSWORD = 'seven quiet otters float'

type Agent = Browser['one']

/** An operator who is signed in to the console. */
export interface Operator {
  readonly email: string
  readonly browser: Browser
  /** The secret of the authenticator app. */
  readonly secret: string
}

/** Posts a form of the console. */
export function post(
  agent: Agent,
  path: string,
  fields: Readonly<Record<string, string | readonly string[]>> = {},
) {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return agent.post(path).type('form').send(new URLSearchParams(entries).toString())
}

/** Invites an operator with the command of the service, and has them follow the link. */
export async function signUp(deployment: Deployment, role: string, email: string): Promise<Operator> {
  const { link } = await deployment.operate<{ link: string }>('operator', 'invite', email, '--role', role)
  return join(deployment, link, email)
}

/** Follows the link of an invitation: chooses a password, signs in and sets up an authenticator app. */
export async function join(deployment: Deployment, link: string, email: string): Promise<Operator> {
  const browser = deployment.consoleBrowser()
  await post(browser.one, new URL(link).pathname, { password: PASSWORD, again: PASSWORD }).expect(307)
  await post(browser.one, '/console/sign-in', { email, password: PASSWORD }).expect(303)
  const { body } = await browser.other
    .post('/console/mfa/enroll-app')
    .set('accept', 'application/json')
    .send({})
    .expect(200)
  const code = totpCode(body.secret, deployment.clock.now())
  await post(browser.other, '/console/mfa/enroll-app/confirm', { code }).expect(303)
  return { email, browser, secret: body.secret }
}

/** Shows the second factor again. */
export async function verifyAgain(deployment: Deployment, { browser, secret }: Operator): Promise<void> {
  const code = await nextAppCode(deployment, secret)
  // A page says only that the user is signed in, unless a step-up was begun.
  const program = post(browser.one, '/console/mfa/verify', { factor: 'app', code })
  await program.set('accept', 'application/json').expect(200)
}

/** Finds the link of an invitation on a page. */
export function linkIn(page: string): string | undefined {
  const link = /class="once">([^<]+)</.exec(page)?.[1]
  return link?.startsWith(`${CONSOLE_URL}/console/invitation/`) ? link : undefined
}
