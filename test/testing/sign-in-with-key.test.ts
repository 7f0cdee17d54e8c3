import request from 'supertest'
import { afterEach, describe, expect, it } from 'vitest'
import {
  addKey,
  mfaTestKit,
  signInWithKey,
  signInWithMfa,
  softwareAuthenticator,
} from '../../src/testing/index.js'
import { sessionCookie } from '../kit/cookies.js'
import { host, jsonAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { listen } from '../kit/sockets.js'

const kit = mfaTestKit({ relyingParty: { id: 'vault.example' } })
afterEach(() => kit.reset())

const app = () => host({ options: { service: kit.service } }).app

/** An app in which bob, who has SMS, has added a key. */
async function withKey(method: 'security-key' | 'passkey' = 'passkey') {
  const made = app()
  const agent = jsonAgent(made)
  await login(agent, 'bob').expect(200)
  await signInWithMfa(agent, { kit })
  const authenticator = softwareAuthenticator()
  const approve = (approval: string) => signInWithMfa(agent, { kit, approval })
  const key = await addKey(agent, { authenticator, method, name: 'Blue', approve })
  return { made, agent, authenticator, key }
}

describe('signing in with a key in a test', () => {
  it.each(['passkey', 'security-key'] as const)(
    'adds a %s, and passes the second factor with it',
    async (method) => {
      const { made, agent, authenticator, key } = await withKey(method)
      const { body } = await agent.get('/mfa/keys').expect(200)
      expect(body.keys).toMatchObject([{ id: key, method, name: 'Blue' }])
      const another = jsonAgent(made)
      await login(another, 'bob').expect(200)
      expect(await signInWithKey(another, { authenticator })).toBe('/')
      await another.get('/secret').expect(200)
    },
  )

  it('confirms a step-up', async () => {
    const { authenticator, agent } = await withKey()
    kit.clock.advance('10m')
    await agent.post('/transfer').expect(401)
    expect(await signInWithKey(agent, { authenticator, factor: 'passkey' })).toBe('/')
    await agent.post('/transfer').expect(200)
  })

  it('leaves signing in with a code to the factors with codes', async () => {
    const { made } = await withKey()
    const agent = jsonAgent(made)
    await login(agent, 'bob').expect(200)
    await signInWithMfa(agent, { kit })
    await agent.get('/secret').expect(200)
  })

  it('throws an error that says what is missing', async () => {
    const { made } = await withKey()
    const agent = jsonAgent(made)
    const authenticator = softwareAuthenticator()
    await expect(signInWithKey(agent, { authenticator })).rejects.toThrow('signInWithKey: ')
    await login(agent, 'bob').expect(200)
    await expect(signInWithKey(agent, { authenticator })).rejects.toThrow('no such credential')
    const withoutKey = jsonAgent(app())
    await login(withoutKey, 'dora').expect(200)
    await expect(signInWithKey(withoutKey, { authenticator })).rejects.toThrow(
      'signInWithKey: the user has no factor that this function can use; the app offers dual',
    )
    await expect(addKey(withoutKey, { authenticator })).rejects.toThrow(
      'addKey: POST /mfa/keys/options responded with 401 mfa_required',
    )
    await signInWithMfa(withoutKey, { kit })
    await expect(addKey(withoutKey, { authenticator })).rejects.toThrow(
      'addKey: POST /mfa/keys/options responded with 401 step_up_required',
    )
  })

  it('opens one session for 200 concurrent replays over sockets (R21, R69)', async () => {
    const { made, authenticator } = await withKey()
    const url = `http://127.0.0.1:${await listen(made)}`
    const cookie = sessionCookie(await login(request(made), 'bob').expect(200))
    const post = (path: string, body: object, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { cookie, accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const { publicKey } = await (await post('/mfa/challenge', { factor: 'passkey' })).json()
    const response = authenticator.get(publicKey, { origin: 'https://vault.example' })
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => post('/mfa/verify', { factor: 'passkey', response })),
    )
    const opened = answers.filter(({ status }) => status === 200)
    expect(opened).toHaveLength(1)
    // The old session and those of all answers: one is signed in.
    const cookies = answers
      .flatMap(({ headers }) => headers.getSetCookie())
      .map((line) => line.split(';')[0] ?? '')
    const pages = [...new Set([cookie, ...cookies])].map((each) =>
      fetch(`${url}/secret`, { headers: { cookie: each } }),
    )
    const statuses = (await Promise.all(pages)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.length).toBeGreaterThan(1)
  })
})
