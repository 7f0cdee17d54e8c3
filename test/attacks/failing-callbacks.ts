import { describe, expect, it, onTestFinished } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { browserAgent, type Host, type TestUser } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { trustingHost } from '../trust/kit.js'

type Options = Partial<MfaOptions<TestUser>>
type Callback = (...args: never[]) => unknown

/** The options with one callback of the host in its place. */
const CALLBACKS: Record<string, (call: Callback) => object> = {
  factors: (call) => ({ factors: call }),
  userId: (call) => ({ userId: call }),
  policy: (call) => ({ policy: call }),
  location: (call) => ({ location: call, notices: { onNotice: () => {} } }),
  locale: (call) => ({ languages: { locale: call } }),
  remember: (call) => ({ languages: { offer: ['en', 'de'], locale: () => 'en', remember: call } }),
  preferred: (call) => ({ pages: { preferred: call } }),
  render: (call) => ({ pages: { render: call } }),
  canTrust: (call) => ({ trustedDevices: { store: 'memory', canTrust: call } }),
  fingerprint: (call) => ({ trustedDevices: { store: 'memory', fingerprint: call } }),
  onEvent: (call) => ({ onEvent: call }),
  onNotice: (call) => ({ notices: { onNotice: call } }),
  onAppEnrolled: (call) => ({ onAppEnrolled: call }),
  appContact: (call) => ({ appContact: call }),
  logger: (call) => ({
    logger: { warn: call, error: call },
    onEvent: () => Promise.reject(new Error('event')),
  }),
}

const FAILURES: Record<string, Callback> = {
  throws: () => {
    throw new Error('host')
  },
  rejects: () => Promise.reject(new Error('host')),
  'returns a number': () => 7,
  'returns nothing': () => undefined,
}

const ROUTES = [
  ['get', '/mfa'],
  ['get', '/mfa/verify?factor=app'],
  ['post', '/mfa/challenge', { factor: 'sms' }],
  ['post', '/mfa/verify', { code: '000000', factor: 'app', trust: 'true' }],
  ['get', '/mfa/enroll-app'],
  ['post', '/mfa/enroll-app', {}],
  ['post', '/mfa/enroll-app/confirm', { code: '123456' }],
  ['get', '/mfa/backup'],
  ['post', '/mfa/backup', {}],
  ['get', '/mfa/devices'],
  ['post', '/mfa/devices/revoke-all', {}],
  ['post', '/mfa/language', { language: 'de' }],
  ['get', '/secret'],
  ['post', '/transfer', {}],
] as const

/** Requests every route; none may hang. */
async function requestAll({ app, standIn }: Host, name: string) {
  const browser = browserAgent(app)
  const statuses = [(await login(browser, name).type('form').timeout(20_000)).status]
  for (const [method, path, body] of ROUTES) {
    const sent = method === 'get' ? browser.get(path) : browser.post(path).type('form').send(body)
    statuses.push((await sent.timeout(20_000)).status)
  }
  const { status } = await browser.get('/secret').set('Accept', 'application/json')
  // The correct code, so that the work of the host after a second factor fails too.
  standIn.setApp('alice@example.com', '424242')
  await verify(browser, '424242', { factor: 'app', trust: 'true' }).type('form')
  await browser.post('/mfa/backup').type('form').send({})
  await browser.post('/mfa/enroll-app').type('form').send({})
  await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: '123456' })
  return { statuses, status }
}

/** The process lives, and nobody is signed in, when a callback of the host fails. */
export function survivesFailingCallbacks(version: string): void {
  describe.each(Object.keys(CALLBACKS))(`with ${version}, a callback of the host: %s`, (callback) => {
    it.each(Object.keys(FAILURES))('that %s ends no process and signs nobody in', async (failure) => {
      const unhandled: unknown[] = []
      const listen = (reason: unknown) => void unhandled.push(reason)
      process.on('unhandledRejection', listen)
      onTestFinished(() => void process.off('unhandledRejection', listen))
      const call = FAILURES[failure]
      const options = call && CALLBACKS[callback]?.(call)
      const made = trustingHost({ options: options as Options })

      const { statuses, status } = await requestAll(made, 'alice')
      expect(statuses).toHaveLength(ROUTES.length + 1)
      expect(status).not.toBe(200)
      // Node reports unhandled rejections once the microtasks are done.
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    })
  })
}
