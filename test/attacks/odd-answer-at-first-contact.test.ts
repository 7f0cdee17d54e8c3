import { describe, expect, it } from 'vitest'
import { SERVICE_IDENTITY } from '../../src/protocol/index.js'
import { answer, type Behaviour } from '../client/hostile-service.js'
import { everyCase } from '../kit/every-case.js'
import { signIn } from '../kit/host.js'
import { enrollApp, hostApp, intrude, useGateway } from './gateway.js'

/*
 * Something else answers for the service: a load balancer during a deployment, a captive portal, a proxy that does not know
 * the API key yet. The intruder has the password of a user whose authenticator app only the service keeps.
 */

const gatewayOf = useGateway()

const ODD_ANSWERS: readonly [string, Behaviour][] = [
  ['404', answer(404, '<h1>Not Found</h1>', { 'Content-Type': 'text/html' })],
  ['404 with a problem', answer(404, { code: 'not_found' })],
  ['401', answer(401, { error: 'unauthorized' })],
  ['403', answer(403)],
  ['405', answer(405, { error: 'no' })],
  ['302', answer(302, '', { Location: '/portal' })],
  [
    'a page for every path',
    answer(200, '<html>Sign in to the network</html>', { 'Content-Type': 'text/html' }),
  ],
  ['200 without a body', answer(200)],
  ['204', answer(204)],
  ['an object of another service', answer(200, { service: 'other', api: 1 })],
  ['a later version of the API', answer(200, { service: 'countersign', api: 2 })],
  ['429', answer(429, '', { 'Retry-After': '1' })],
  ['503', answer(503)],
  ['a cut connection', (response) => void response.socket?.destroy()],
]

describe('an odd answer at the first contact with the service (R131)', () => {
  it('signs nobody in, and a user with an app is asked for it once the service answers again', () =>
    everyCase(ODD_ANSWERS, async ([_title, odd]) => {
      const gateway = gatewayOf()
      const start = hostApp(gateway)
      await enrollApp(start(), 'nina')
      gateway.interfere(() => odd)
      const fresh = start()
      expect(await intrude(fresh, 'nina')).toMatchObject({ signIn: 503, page: 401 })
      expect(fresh.failures.at(0)).toMatchObject({ effect: 'none' })
      gateway.interfere(undefined)
      expect(await intrude(fresh, 'nina')).toMatchObject({ signIn: 200, mfa: 'pending', page: 401 })
    }))

  it('to the question alone keeps every code from being sent or checked', async () => {
    const gateway = gatewayOf()
    gateway.interfere((path) => (path === SERVICE_IDENTITY ? answer(404) : undefined))
    const { app } = hostApp(gateway)()
    const before = gateway.paths.length
    for (let attempt = 0; attempt < 8; attempt++) {
      expect(await intrude({ app }, 'bob')).toMatchObject({ signIn: 503, page: 401 })
    }
    expect(new Set(gateway.paths.slice(before))).toEqual(new Set([SERVICE_IDENTITY]))
  })

  it('is one warning, which says how to name the published API', async () => {
    const gateway = gatewayOf()
    gateway.interfere(() => answer(404))
    const { app, events } = hostApp(gateway)()
    await intrude({ app }, 'nina')
    await intrude({ app }, 'nina')
    const warnings = events.filter(({ type }) => type === 'warning')
    expect(warnings).toMatchObject([
      { code: 'MFA_WARN_SERVICE_NOT_RECOGNIZED', remedy: expect.stringContaining("'published'") },
    ])
  })
})

describe('an odd answer to the question which factors a user has (R131)', () => {
  it('signs nobody in, and ends no session that passed the second factor', () =>
    everyCase(ODD_ANSWERS, async ([_title, odd]) => {
      const gateway = gatewayOf()
      const made = hostApp(gateway)()
      const owner = await enrollApp(made, 'nina')
      const other = await signIn(made.app, 'dora')
      gateway.interfere((path) => (path === '/v1/mfa/factors' ? odd : undefined))
      const tried = await intrude(made, 'nina')
      expect(tried).toMatchObject({ page: 401 })
      expect(tried.signIn).toBeGreaterThanOrEqual(502)
      // A session that passed the second factor depends on no answer.
      await owner.get('/secret').expect(200)
      gateway.interfere(undefined)
      expect(await intrude(made, 'nina')).toMatchObject({ signIn: 200, mfa: 'pending', page: 401 })
      expect((await other.get('/mfa')).body.status).toBe('pending')
    }))

  it('which the service does not know is answered with 503', async () => {
    const gateway = gatewayOf()
    const made = hostApp(gateway)()
    await enrollApp(made, 'nina')
    gateway.interfere((path) => (path === '/v1/mfa/factors' ? answer(404, { code: 'not_found' }) : undefined))
    expect(await intrude(made, 'nina')).toMatchObject({ signIn: 503, failed: 'ERR_MFA_SERVICE_REQUEST' })
  })
})
