import { createServer } from 'node:http'
import { createService } from '@countersign/service'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { type Host, host, jsonAgent } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { login, verify } from '../kit/sign-in.js'

/*
 * Factors that were imported into the self-hosted service, which the app calls over HTTP.
 */

const API_KEY = 'key_of_the_service_with_imported_apps'
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

const opened = createService({
  dataDir: 'memory://',
  secret: 'a secret for apps that were imported, long enough',
  apiKey: API_KEY,
  applicationName: 'Testbed',
  transcriber: 'off',
  delivery: 'inbox',
  logger() {},
})
let baseUrl = ''
beforeAll(async () => {
  const server = createServer((await opened).api)
  baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await (await opened).close()
  })
})

let users = 0

/** A pending login of a user whose factors were imported, in an app that lists the authenticator app itself or not. */
async function imported(fields: object, isListed = false) {
  users += 1
  const [id, email] = [`u-moved-${users}`, `moved-${users}@example.com`]
  const row = { account: id, secret: SECRET, ...fields }
  const { refused } = await (await opened)
    .operator('ann')
    .importFactors({ application: 'default', from: 'csv', text: JSON.stringify([row]) })
  expect(refused).toEqual([])
  const made = host({ options: { service: { baseUrl, apiKey: API_KEY } } })
  made.users.zoe = { id, email, factors: isListed ? [{ method: 'app', user: email }] : [] }
  return { made, agent: await pending(made) }
}

async function pending({ app }: Host) {
  const agent = jsonAgent(app)
  await login(agent, 'zoe').expect(200)
  return agent
}

const codeOf = (digits: number) => new TOTP({ secret: SECRET, digits }).generate()

const fieldIn = async (agent: Awaited<ReturnType<typeof pending>>) =>
  (await agent.get('/mfa/verify?factor=app').set('Accept', 'text/html').expect(200)).text

describe('a user whose imported authenticator app has eight digits', () => {
  it('signs in with it, whether or not the app lists it', () =>
    everyCase([true, false], async (isListed) => {
      const { agent } = await imported({ digits: 8 }, isListed)
      await verify(agent, codeOf(8), { factor: 'app' }).expect(200)
    }))

  it('gets a page that sends the form after eight digits', () =>
    everyCase([true, false], async (isListed) => {
      const { agent } = await imported({ digits: 8 }, isListed)
      expect(await fieldIn(agent)).toContain('data-mfa-digits="8"')
    }))

  it('loses no attempt with six digits', async () => {
    const { agent } = await imported({ digits: 8 })
    expect((await verify(agent, '123456', { factor: 'app' }).expect(400)).body.code).toBe('malformed_code')
  })
})

describe('a user whose imported authenticator app has six digits', () => {
  it('signs in with it, loses no attempt with eight, and gets a page that sends six', async () => {
    const { agent } = await imported({})
    expect(await fieldIn(agent)).toContain('data-mfa-digits="6"')
    expect((await verify(agent, '12345678', { factor: 'app' }).expect(400)).body.code).toBe('malformed_code')
    await verify(agent, codeOf(6), { factor: 'app' }).expect(200)
  })
})

it('a user with imported backup codes signs in with one of any length and any letters', () =>
  everyCase(['UVUV1234', 'abcdefuvwxyz', 'x'.repeat(40)], async (code) => {
    const { agent } = await imported({ backup_codes: [code, 'zzzz9999'] })
    await verify(agent, code, { factor: 'backup' }).expect(200)
  }))
