import { setTimeout as wait } from 'node:timers/promises'
import { MemoryStore } from 'express-session'
import type { Test } from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMfa, type MfaService } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { mfaTestKit, softwareAuthenticator } from '../../src/testing/index.js'
import { totpCode } from '../../src/testing/service.js'
import { sendApproved } from '../kit/approved-change.js'
import { SECOND, stopClock } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { host, jsonAgent, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { type Gateway, useGateway } from './gateway.js'

/*
 * The intruder has the password and the mailbox, and confirms a factor while the account is reset or secured in another process.
 */

const gatewayOf = useGateway()

let accounts = 0

/** Two processes of one app, and how the code of a message is read. `hold` delays the answer that confirms a factor. */
interface Processes {
  readonly here: ReturnType<typeof host>
  readonly there: ReturnType<typeof host>
  newestCode(): Promise<string | undefined>
  hold(until: () => Promise<unknown>): void
}

function twoProcesses(service: object, rest: Pick<Processes, 'newestCode' | 'hold'>): Processes {
  const name = `reset-${++accounts}`
  const shared = {
    store: new MemoryStore(),
    users: {
      bob: {
        id: `${name}-bob`,
        email: `${name}-bob@example.com`,
        factors: [{ method: 'email', email: `${name}-bob@example.com` }],
      } satisfies TestUser as TestUser,
    },
    options: {
      service: service as MfaService,
      urls: { publicUrl: 'https://vault.example' },
      limits: { store: ownStore() },
      trustedDevices: { store: memoryStore() },
      recovery: {
        onNotice: () => {},
        onFactorsEnded: ({ factors }: TestUser) => void factors.splice(0),
      },
    },
  }
  return { here: host(shared), there: host(shared), ...rest }
}

function overHttp(): Processes {
  const gateway: Gateway = gatewayOf()
  const made = twoProcesses(
    { ...gateway.address, breaker: false },
    {
      newestCode: () => gateway.newestCode(made.here.users.bob?.email ?? ''),
      hold(until) {
        let isHeld = false
        gateway.interfere((path) => {
          if (isHeld || !/\/(verify|register)$/.test(path)) return undefined
          isHeld = true
          return until().then(() => undefined)
        })
      },
    },
  )
  return made
}

function inProcess(): Processes {
  const kit = mfaTestKit({ relyingParty: { id: 'vault.example' } })
  onTestFinished(() => kit.reset())
  let held: (() => Promise<unknown>) | undefined
  const holding =
    <Request, Answer>(call: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      const answer = await call(request)
      const until = held
      held = undefined
      await until?.()
      return answer
    }
  const { keys } = kit.service
  const service = {
    ...kit.service,
    verify: holding(kit.service.verify),
    ...(keys && { keys: { ...keys, register: holding(keys.register) } }),
  }
  return twoProcesses(service, {
    newestCode: async () => kit.inbox.all()[0]?.code,
    hold(until) {
      held = until
    },
  })
}

const bobOf = ({ here }: Processes) => {
  const { bob } = here.users
  if (!bob) throw new Error('expected bob')
  return bob
}

async function signedIn(processes: Processes, { app } = processes.here) {
  const agent = jsonAgent(app)
  await login(agent, 'bob').expect(200)
  await challenge(agent, 'email').expect(200)
  await verify(agent, await processes.newestCode()).expect(200)
  return agent
}

type Agent = Awaited<ReturnType<typeof signedIn>>
type Confirm = (
  hold: (until: () => Promise<unknown>) => void,
  until: () => Promise<unknown>,
) => Promise<number>

/** The passkeys, and the secrets of apps, that were set up in a browser. */
const owned = new WeakMap<object, ReturnType<typeof softwareAuthenticator>>()
const secrets = new WeakMap<object, string>()

/** Sends what adds a factor, and approves it by a code to the mailbox, the app or the passkey of this browser. */
const approved = ({ newestCode }: Processes, agent: Agent, send: () => Test) =>
  sendApproved(agent, send, async (factor, approval) => {
    if (factor === 'app') {
      // Its code of now was used when it was confirmed.
      stopClock().move(30 * SECOND)
      return { code: totpCode(secrets.get(agent) ?? ''), factor }
    }
    const { body } = await agent.post('/mfa/challenge').send({ factor, approval }).expect(200)
    if (factor === 'email') return { code: await newestCode() }
    return { response: owned.get(agent)?.get(body.publicKey, { origin: 'https://vault.example' }), factor }
  })

/** Prepares an app, or a passkey, and returns what confirms it. */
const FACTORS: Readonly<Record<'app' | 'passkey', (agent: Agent, processes: Processes) => Promise<Confirm>>> =
  {
    async app(agent, processes) {
      const { body } = await approved(processes, agent, () => agent.post('/mfa/enroll-app').send({}))
      secrets.set(agent, body.secret)
      return async (hold, until) => {
        hold(until)
        return (await agent.post('/mfa/enroll-app/confirm').send({ code: totpCode(body.secret) })).status
      }
    },
    async passkey(agent, processes) {
      const options = () => agent.post('/mfa/keys/options').send({ method: 'passkey' })
      const { body } = await approved(processes, agent, options)
      const device = softwareAuthenticator()
      owned.set(agent, device)
      const response = device.create(body.publicKey, { origin: 'https://vault.example' })
      return async (hold, until) => {
        hold(until)
        return (await agent.post('/mfa/keys').send({ method: 'passkey', response })).status
      }
    },
  }

const reset = ({ there, ...rest }: Processes, factors?: readonly string[]) =>
  createMfa(there.mfa).account.reset(bobOf({ there, ...rest }), {
    by: 'staff-7',
    reason: 'lost phone',
    ...(factors && { factors }),
  })

/** The owner signs in with the bypass code and sets up a factor of the other kind. */
async function finish(processes: Processes, code: string, other: 'app' | 'passkey') {
  const owner = jsonAgent(processes.there.app)
  await login(owner, 'bob').expect(200)
  await verify(owner, code, { factor: 'bypass' }).expect(200)
  const confirm = await FACTORS[other](owner, processes)
  expect(
    await confirm(
      () => {},
      async () => {},
    ),
  ).toBe(200)
  return owner
}

/** The methods that the next sign-in offers. */
async function offered({ there }: Processes): Promise<string[]> {
  const agent = jsonAgent(there.app)
  await login(agent, 'bob').expect(200)
  const { body } = await agent.get('/mfa').expect(200)
  return body.factors.map(({ method }: { method: string }) => method)
}

const KINDS = [
  ['app', 'passkey'],
  ['passkey', 'app'],
] as const

describe.each([
  ['over HTTP', overHttp],
  ['in the process', inProcess],
] as const)(
  'a factor that a session confirms while staff reset the account, with the service %s (R07, R94, R95, R135)',
  (_name, open) => {
    it.each(KINDS)('is taken back when the reset came before the answer: %s', async (kind, other) => {
      const processes = open()
      const confirm = await FACTORS[kind](await signedIn(processes), processes)
      let code = ''
      const status = await confirm(processes.hold, async () => {
        code = (await reset(processes)).code
      })
      expect(status).toBe(401)
      await finish(processes, code, other)
      expect(await offered(processes)).toEqual([other])
    })

    it.each([0, 1, 2, 3, 5, 8, 12, 20, 35, 50])(
      'does not outlive a reset that begins %i ms later',
      async (ms) => {
        for (const [kind, other] of KINDS) {
          const processes = open()
          const confirm = await FACTORS[kind](await signedIn(processes), processes)
          const confirming = confirm(
            () => {},
            async () => {},
          )
          if (ms > 0) await wait(ms)
          const { code } = await reset(processes)
          await confirming
          await finish(processes, code, other)
          expect(await offered(processes)).toEqual([other])
        }
      },
    )

    it.each(KINDS)('is taken back where only other factors were reset: %s', async (kind, other) => {
      const processes = open()
      const confirm = await FACTORS[kind](await signedIn(processes), processes)
      let code = ''
      const status = await confirm(processes.hold, async () => {
        code = (await reset(processes, ['email'])).code
      })
      expect(status).toBe(401)
      await finish(processes, code, other)
      expect(await offered(processes)).toEqual([other])
    })

    it.each(KINDS)(
      'is taken back when the account is secured meanwhile, and nothing else is: %s',
      async (kind, other) => {
        const processes = open()
        const owner = await signedIn(processes)
        expect(
          await (await FACTORS[other](owner, processes))(
            () => {},
            async () => {},
          ),
        ).toBe(200)
        const confirm = await FACTORS[kind](owner, processes)
        const { account } = createMfa(processes.there.mfa)
        const status = await confirm(processes.hold, () => account.secure(bobOf(processes)))
        expect(status).toBe(401)
        expect(await offered(processes)).toEqual([other, 'email'])
      },
    )

    it('ends with the reset even if the clock of the process of its session is fast', async () => {
      const clock = stopClock()
      const processes = open()
      clock.move(30 * SECOND)
      const intruder = await signedIn(processes)
      const prepared = await FACTORS.app(intruder, processes)
      clock.move(-30 * SECOND)
      await reset(processes)
      expect(
        await prepared(
          () => {},
          async () => {},
        ),
      ).toBe(401)
      await intruder.get('/secret').expect(401)
    })
  },
)

describe('a reset of all factors (R95)', () => {
  it('removes, at its close, every app, key and backup code but the new one', async () => {
    const processes = overHttp()
    const intruder = await signedIn(processes)
    await (await FACTORS.app(intruder, processes))(
      () => {},
      async () => {},
    )
    const { body } = await approved(processes, intruder, () => intruder.post('/mfa/backup/codes').send({}))
    const { code } = await reset(processes)
    const owner = await finish(processes, code, 'passkey')
    expect(await offered(processes)).toEqual(['passkey'])
    expect((await owner.get('/mfa').expect(200)).body).not.toMatchObject({ backup: true })
    const attacker = jsonAgent(processes.there.app)
    await login(attacker, 'bob').expect(200)
    await verify(attacker, body.codes[0], { factor: 'backup' }).expect(401)
  })
})
