import { expect } from 'vitest'
import { type Host, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/*
 * The abilities of an attacker in these tests: sign in with the password of a user, and read one of the user's contacts.
 */

/** Signs in as the user, with a code from the contact that the attacker reads. */
export async function breakIn({ app, standIn }: Host, name: string, factor: 'email' | 'sms' | 'dual') {
  const agent = await signIn(app, name)
  await challenge(agent, factor).expect(200)
  await verify(agent, standIn.newestCode()).expect(200)
  return agent
}

/** The account's owner signs in with the authenticator app. */
export async function signInWithApp({ app, standIn, users }: Host, name: string, code = '424242') {
  standIn.setApp(users[name]?.email ?? '', code)
  const agent = await signIn(app, name)
  await verify(agent, code, { factor: 'app' }).expect(200)
  return agent
}

/** Expects that a code of the owner's authenticator app is still accepted. */
export async function expectAppWorks({ app }: Host, name: string, code = '424242') {
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  const { body } = await verify(agent, code, { factor: 'app' }).expect(200)
  expect(body.status).toBe('verified')
}
