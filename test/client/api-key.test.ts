import { describe, expect, it } from 'vitest'
import { MfaStrategy, mfaSession } from '../../src/index.js'
import { readOptions } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { everythingAbout } from '../kit/everything-about.js'
import { API_KEY, BOBS_CODE, clientFor, failure, pair } from './ask.js'
import { answer, type Behaviour, raw } from './hostile-service.js'

describe('the API key (R78)', () => {
  it('is sent as a bearer token in one header, and nowhere else in the request', async () => {
    const { client, service } = await pair(answer(200))
    await client.verify(BOBS_CODE)
    const [call] = service.calls
    expect(call?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    const { authorization: _key, ...others } = call?.headers ?? {}
    expect(JSON.stringify([call?.path, call?.body, others])).not.toContain(API_KEY)
  })

  // A service that shows the request in its answer, as proxies and debug pages do.
  const echo = `{"echo":"Bearer ${API_KEY}","code":"123456"}`
  const page = { 'Content-Type': 'text/html' }
  const failures: readonly [string, Behaviour][] = [
    ['a page', answer(200, `<p>Bearer ${API_KEY} 123456 +447700900102</p>`, page)],
    ['broken JSON', answer(200, `{"echo":"Bearer ${API_KEY} 123456 +447700900102"`)],
    ['a refusal of the key', answer(401, echo, { 'WWW-Authenticate': `Bearer realm="${API_KEY}"` })],
    ['a redirect', answer(302, echo, { Location: `https://elsewhere.example/?${API_KEY}` })],
    ['a bad request', answer(400, echo)],
    ['a failure', answer(500, echo)],
    ['a code that is not one of ours', answer(403, { code: API_KEY })],
    ['something that is not HTTP', raw(`Bearer ${API_KEY} 123456 +447700900102\r\n\r\n`)],
    ['a broken header', raw(`HTTP/1.1 200 OK\r\nBearer ${API_KEY} 123456 +447700900102\r\n\r\n`)],
    ['a status line with it', raw(`HTTP/1.1 200 Bearer ${API_KEY}\r\nContent-Length: 5\r\n\r\n{}`)],
    ['a connection that ends', raw('')],
    ['nothing', () => {}],
  ]
  it('is in no error, whatever the service answers', () =>
    everyCase(failures, async ([_title, behaviour]) => {
      const { client } = await pair(behaviour, { timeout: 200 })
      const described = everythingAbout(await failure(client.verify(BOBS_CODE)))
      expect(described).not.toContain(API_KEY)
      expect(described).not.toContain('+447700900102')
      expect(described).not.toContain('123456')
    }))

  it('is in no error when the service is not running', async () => {
    const client = clientFor({ baseUrl: 'http://127.0.0.1:1', apiKey: API_KEY })
    const error = await failure(client.verify(BOBS_CODE))
    expect(error.cause).toBeInstanceOf(Error)
    expect(everythingAbout(error)).not.toContain(API_KEY)
  })

  it('is not visible in the client, the settings, the strategy or the gate', () => {
    const options = { service: { baseUrl: 'https://mfa.example', apiKey: API_KEY }, factors: () => [] }
    const built = [
      clientFor(options.service),
      readOptions(options),
      new MfaStrategy(options),
      mfaSession(options),
    ]
    for (const part of built) expect(everythingAbout(part)).not.toContain(API_KEY)
  })

  it('is not in the fault that rejects it', () => {
    const options = {
      service: { baseUrl: 'https://mfa.example', apiKey: `${API_KEY} \n` },
      factors: () => [],
    }
    const read = () => readOptions(options)
    expect(read).toThrow('service.apiKey')
    expect(read).not.toThrow(API_KEY)
  })
})
