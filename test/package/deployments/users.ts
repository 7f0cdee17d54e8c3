import { expect } from 'vitest'
import type { FactorInput } from '../../../src/index.js'
import { totpCode } from '../../../src/testing/service.js'
import { approveChange, byCode } from '../../kit/approved-change.js'
import { challenge, verify } from '../../kit/sign-in.js'
import type { Browser } from './browser.js'
import type { Deployment } from './deployment.js'

type Agent = Browser['one']

/** A user of the host app. */
export interface User {
  readonly id: string
  readonly email: string
  readonly phone: string
}

let users = 0

/** Registers a new user with the host app, with these factors of the app's own record. */
export async function register(
  deployment: Deployment,
  factorsOf: (user: User) => readonly FactorInput[] = () => [],
): Promise<User> {
  const number = ++users
  const id = `user-${number}`
  const phone = `+447700900${String(number).padStart(3, '0')}`
  const user = { id, email: `${id}@example.com`, phone }
  await deployment
    .browser()
    .one.post('/register')
    .send({ ...user, factors: factorsOf(user) })
    .expect(200)
  return user
}

export const byEmail = ({ email }: User): FactorInput => ({ method: 'email', email })
export const bySms = ({ phone }: User): FactorInput => ({ method: 'sms', phone })

/** Sends the password of a user, and returns the MFA status. */
export async function typePassword(agent: Agent, { id }: User, path = '/login'): Promise<string> {
  const { status, body } = await agent.post(path).send({ name: id, password: 'a good password' })
  if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`)
  return body.status
}

/** Shows a code that is sent to the mailbox or the phone. */
export async function showSentCode(
  { mail }: Deployment,
  agent: Agent,
  { email, phone }: User,
  factor: 'email' | 'sms',
) {
  await challenge(agent, factor).expect(200)
  const code = await mail.code(factor === 'email' ? email : phone)
  const { body } = await verify(agent, code).expect(200)
  return body as { readonly status: string; readonly next: string }
}

/** Approves by a code to the phone what a path requires an approval for, so that the next request to it is accepted. */
export async function approveBySms(
  { mail }: Deployment,
  agent: Agent,
  { phone }: User,
  path: string,
  body = {},
): Promise<void> {
  await approveChange(
    agent,
    path,
    byCode(agent, () => mail.code(phone)),
    body,
  )
}

/** Sets up an authenticator app, and returns its secret. */
export async function enrollApp({ clock }: Deployment, agent: Agent): Promise<string> {
  const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
  const code = totpCode(body.secret, clock.now())
  await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
  return body.secret
}

/** A code of an authenticator app that it has not shown before. */
export async function nextAppCode({ clock }: Deployment, secret: string): Promise<string> {
  // A code is accepted once, and the next one is shown after 30 seconds.
  await clock.pass(30_000)
  return totpCode(secret, clock.now())
}

/** Shows a code of the user's authenticator app. */
export async function showAppCode(deployment: Deployment, agent: Agent, secret: string): Promise<void> {
  await verify(agent, await nextAppCode(deployment, secret), { factor: 'app' }).expect(200)
}

/** Expects that the agent is signed in as the user. */
export async function expectInside(agent: Agent, { id }: User): Promise<void> {
  const { body } = await agent.get('/account').expect(200)
  expect(body.user).toBe(id)
}

/** Expects that the agent is signed in as nobody. */
export async function expectOutside(agent: Agent): Promise<void> {
  const { status } = await agent.get('/account')
  expect([401, 403]).toContain(status)
}
