import { describe, expect, it } from 'vitest'
import { SERVICE_IDENTITY } from '../../src/protocol/index.js'
import { API_KEY, BOBS_CODE, clientFor, failure, verdict } from './ask.js'
import { answer, type Behaviour, hostileService } from './hostile-service.js'

const OWN = { service: 'countersign', api: 1 }

/** A service, and a client that is not configured for one API. `identity` answers the question, `api` everything else. */
async function undeclared(identity: Behaviour, api: Behaviour = answer(200, { valid: true })) {
  const behavior = { identity, api }
  const service = await hostileService((response, call) =>
    (call.path === SERVICE_IDENTITY ? behavior.identity : behavior.api)(response, call),
  )
  const client = clientFor({ baseUrl: service.url, apiKey: API_KEY, timeout: 2_000, dialect: undefined })
  const parametersOf = (path: string) =>
    service.calls.filter((call) => call.path === path).map(({ body }) => new URLSearchParams(body))
  return { service, client, behavior, parametersOf }
}

const asked = (calls: readonly { readonly path: string }[]) =>
  calls.filter(({ path }) => path === SERVICE_IDENTITY).length

describe('a client without a dialect (R97)', () => {
  it('asks the service once, before the first call, and uses the additions of the Countersign service', async () => {
    const { service, client, parametersOf } = await undeclared(answer(200, OWN))
    expect(service.calls).toEqual([])
    expect(await verdict(client)).toBe('valid')
    expect(await verdict(client)).toBe('valid')
    expect(service.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET ${SERVICE_IDENTITY}`,
      'POST /v1/mfa/verify',
      'POST /v1/mfa/verify',
    ])
    expect(parametersOf('/v1/mfa/verify')[0]?.get('Kind')).toBe('CODE')
  })

  it('asks once for concurrent first calls', async () => {
    const { service, client } = await undeclared(answer(200, OWN))
    await Promise.all(Array.from({ length: 20 }, () => verdict(client)))
    expect(asked(service.calls)).toBe(1)
  })

  it.each<[string, Behaviour]>([
    ['404', answer(404)],
    ['405 with a body', answer(405, { error: 'no' })],
    ['401', answer(401)],
    ['a page for every path', answer(200, '<html>')],
    ['an empty 200', answer(200)],
    ['an object of another service', answer(200, { service: 'other', api: 1 })],
    ['a later version of the API', answer(200, { service: 'countersign', api: 2 })],
    ['a redirect', answer(302, '', { Location: '/login' })],
    ['503', answer(503)],
    ['429', answer(429)],
    ['a cut connection', (response) => void response.socket?.destroy()],
  ])(
    'checks no code with a service that answers with %s, and asks again at the next call (R131)',
    async (title, odd) => {
      const { service, client, behavior } = await undeclared(odd)
      const error = await failure(client.verify(BOBS_CODE))
      expect(error).toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE', status: 503, effect: 'none' })
      // Not to a service that is down, since the published API guarantees less.
      const isDown = ['503', '429', 'a cut connection'].includes(title)
      expect(error.message.includes("service.dialect: 'published'")).toBe(!isDown)
      expect(service.calls.every(({ path }) => path === SERVICE_IDENTITY)).toBe(true)
      behavior.identity = answer(200, OWN)
      expect(await verdict(client)).toBe('valid')
    },
  )

  it('recognizes the service by the header alone', async () => {
    const { client, parametersOf } = await undeclared(answer(404, '', { 'Countersign-API': '1' }))
    expect(await verdict(client)).toBe('valid')
    expect(parametersOf('/v1/mfa/verify')[0]?.get('Kind')).toBe('CODE')
  })

  it('does not lose what it knows while the service is down', async () => {
    const { service, client, behavior } = await undeclared(answer(200, OWN))
    await verdict(client)
    behavior.identity = answer(404)
    behavior.api = answer(503)
    expect(await verdict(client)).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    behavior.api = answer(200)
    // Only the published API accepts a code without a body that says so.
    expect(await verdict(client)).toBe('ERR_MFA_SERVICE_ANSWER')
    expect(asked(service.calls)).toBe(1)
  })

  it('sends no API key with the question', async () => {
    const { service, client } = await undeclared(answer(200, OWN))
    await verdict(client)
    expect(service.calls[0]?.headers.authorization).toBeUndefined()
    expect(service.calls[1]?.headers.authorization).toBe(`Bearer ${API_KEY}`)
  })
})
