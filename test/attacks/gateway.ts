import { createServer, request } from 'node:http'
import { createService } from '@countersign/service'
import { MemoryStore } from 'express-session'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { MfaEvent, MfaOptions } from '../../src/index.js'
import { totpCode } from '../../src/testing/service.js'
import type { Behaviour } from '../client/hostile-service.js'
import { type Approve, byCode, sendApproved } from '../kit/approved-change.js'
import { atOneTime } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { type HostSetup, host, jsonAgent, signIn, type TestUser } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { verify } from '../kit/sign-in.js'

/*
 * The Countersign service behind a gateway, such as a load balancer, and processes of one host app that call it there.
 */

const API_KEY = 'key_of_the_service_behind_a_gateway'

/** Answers in the place of the service, or holds its response back until then; `undefined` lets both pass. */
export type Interference = (path: string) => Behaviour | Promise<void> | undefined

/** The self-hosted service and its gateway, for the tests of one file. */
export function useGateway(): () => Gateway {
  let gateway: Gateway | undefined
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway?.close())
  return () => {
    if (!gateway) throw new Error('The gateway has not started.')
    return gateway
  }
}

async function startGateway() {
  const service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for the gateway, long enough',
    apiKey: API_KEY,
    applicationName: 'Testbed',
    transcriber: 'off',
    delivery: { email: 'inbox', sms: 'inbox' },
    relyingParty: { id: 'vault.example', name: 'Testbed', origins: ['https://vault.example'] },
  })
  const origin = createServer(service.api)
  const port = await listenOnLoopback(origin)
  const paths: string[] = []
  let interfere: Interference | undefined

  const gateway = createServer((req, res) => {
    const { method, url: path = '', headers } = req
    paths.push(path)
    const answer = interfere?.(path)
    if (typeof answer === 'function') {
      req.resume().on('end', () => answer(res, { method: method ?? '', path, headers, body: '' }))
      return
    }
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
      await answer
      res.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(res)
    })
    forwarded.on('error', () => res.destroy())
    req.pipe(forwarded)
  })
  const gatewayPort = await listenOnLoopback(gateway)
  return {
    /** The address that the host app is configured with. */
    address: { baseUrl: `http://127.0.0.1:${gatewayPort}`, apiKey: API_KEY },
    /** The paths of all requests so far. */
    paths,
    /** Interferes until the end of the test, or until it is called with `undefined`. */
    interfere(next: Interference | undefined) {
      interfere = next
      onTestFinished(() => {
        interfere = undefined
      })
    },
    async close() {
      for (const server of [gateway, origin]) {
        server.closeAllConnections()
        server.close()
      }
      await service.close()
    },
    /** The code of the newest message to a contact. */
    async newestCode(to: string): Promise<string | undefined> {
      const [message] = (await service.inbox?.messages({ to })) ?? []
      return /\b\d{6}\b/.exec(message?.text ?? '')?.[0]
    },
  }
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>

let apps = 0

/**
 * A host app that keeps no record of apps and keys. Each call of the returned function starts another process of it; all of
 * them have the same users, sessions and counters, which no other app has.
 */
export function hostApp({ address }: Pick<Gateway, 'address'>) {
  const store = new MemoryStore()
  const counters = ownStore()
  const name = `app-${++apps}`
  return (options: Partial<MfaOptions<TestUser>> = {}, setup: Pick<HostSetup, 'routes'> = {}) => {
    const events: MfaEvent[] = []
    const made = host({
      ...setup,
      store,
      options: {
        service: { ...address, breaker: false },
        users: 'users',
        limits: { store: counters },
        userId: ({ id }) => `${name}-${id}`,
        appContact: ({ email }) => `${name}-${email}`,
        onEvent: (event) => void events.push(event),
        ...options,
      },
    })
    return { ...made, events }
  }
}

export type HostProcess = ReturnType<ReturnType<typeof hostApp>>

/** The user signs in with the password and sets up an authenticator app. */
export async function enrollApp({ app }: Pick<HostProcess, 'app'>, name: string) {
  return addApp(await signIn(app, name))
}

type Agent = ReturnType<typeof jsonAgent>

/** The user of this browser sets up an authenticator app. */
export async function addApp(agent: Agent, approve: Approve = byOwnApp(agent)) {
  const { body } = await sendApproved(agent, () => agent.post('/mfa/enroll-app'), approve)
  secrets.set(agent, body.secret)
  // The code before, so that the current one is left for an approval.
  await atOneTime(async () => {
    const code = totpCode(body.secret, Date.now() - 30_000)
    await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
  })
  return agent
}

/** Approves by a text message to bob. */
export const byText = (agent: Agent, gateway: Gateway): Approve =>
  byCode(agent, () => gateway.newestCode('+447700900102'))

/** The secrets of the apps that were set up in a browser. */
const secrets = new WeakMap<Agent, string>()

/** Approves by the app that was set up in this browser, once. */
export const byOwnApp = (agent: Agent): Approve => byCode(agent, () => totpCode(secrets.get(agent) ?? ''))

/** Shows the app that was set up in this browser, once. */
export const showOwnApp = (agent: Agent) =>
  verify(agent, totpCode(secrets.get(agent) ?? ''), { factor: 'app' }).expect(200)

/** The intruder, who has the password and no factor, signs in. Returns the status of the sign-in and that of a page behind it. */
export async function intrude({ app }: Pick<HostProcess, 'app'>, name: string) {
  const agent = jsonAgent(app)
  const { status, body } = await agent.post('/login').send({ name })
  const page = await agent.get('/secret')
  return { agent, signIn: status, mfa: body.mfa?.status, failed: body.failed, page: page.status }
}
