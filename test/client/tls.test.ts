import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readOptions } from '../../src/options/settings.js'
import { missing } from '../kit/debian-packages.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { API_KEY, BOBS_CODE, clientFor, failure, verdict } from './ask.js'
import { answer, hostileService } from './hostile-service.js'

const opensslMissing = missing('openssl')

describe.skipIf(opensslMissing)('a service whose certificate nobody vouches for (R73)', () => {
  let folder = ''
  let tls = { key: '', cert: '' }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mfa'
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:mfa.example']
    execFileSync('openssl', [...request.split(' '), ...names, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    })
    tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  afterEach(() => vi.unstubAllEnvs())

  it('receives neither the key nor a code', async () => {
    const service = await hostileService(answer(200), tls)
    const client = clientFor({ baseUrl: service.url, apiKey: API_KEY })
    const error = await failure(client.verify(BOBS_CODE))
    expect(error.code).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    expect(error.message).toContain('SELF_SIGNED_CERT')
    expect(service.calls).toEqual([])
  })

  it('is offered HTTP/1.1 alone, so that each call has a socket of its own', async () => {
    const offered: string[] = []
    const server = createServer({
      ...tls,
      ALPNCallback: ({ protocols }) => {
        offered.push(...protocols)
        return protocols[0]
      },
    })
    const port = await listenOnLoopback(server)
    onTestFinished(() => void server.close())
    expect(await verdict(clientFor({ baseUrl: `https://127.0.0.1:${port}`, apiKey: API_KEY }))).toBe(
      'ERR_MFA_SERVICE_UNAVAILABLE',
    )
    expect(offered).toEqual(['http/1.1'])
  })

  it('receives nothing either when the environment turns verification off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const service = await hostileService(answer(200), tls)
    const client = clientFor({ baseUrl: service.url, apiKey: API_KEY })
    expect(await verdict(client)).toBe('ERR_MFA_SERVICE_UNAVAILABLE')
    expect(service.calls).toEqual([])
  })
})

it('plain http to another machine is refused when the options are read (R73)', () => {
  expect(() =>
    readOptions({ service: { baseUrl: 'http://10.0.0.7', apiKey: API_KEY }, factors: () => [] }),
  ).toThrow('must be https')
})
