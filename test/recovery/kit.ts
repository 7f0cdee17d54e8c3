import { MemoryStore } from 'express-session'
import { type AccountNotice, createMfa, type MfaEvent, type MfaOptions } from '../../src/index.js'
import type { EndedFactor, NoticeContact } from '../../src/options/recovery.js'
import type { NoticeType } from '../../src/pages/notices/notice.js'
import { memoryStore } from '../../src/stores/memory.js'
import { HOUR } from '../kit/clock.js'
import { ownStore } from '../kit/counters.js'
import { type Host, type HostSetup, host, jsonAgent, LISTED_APP, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'
import type { Agent } from '../trust/kit.js'

export const PUBLIC_URL = 'https://shop.example'

/** A notice that the host was given, and where it went. */
export interface Sent extends NoticeContact {
  readonly notice: AccountNotice
}

/** A host that offers recovery, and what it was given. Its users lose the factors that a recovery ends. */
export function recoveringHost(setup: HostSetup & { forgets?: boolean } = {}) {
  const sent: Sent[] = []
  const ended: { user: TestUser; factors: readonly EndedFactor[] }[] = []
  const events: MfaEvent[] = []
  const { recovery, ...options } = setup.options ?? {}
  const made = host({
    ...setup,
    options: {
      urls: { publicUrl: PUBLIC_URL },
      trustedDevices: { store: 'memory' },
      onEvent: (event) => events.push(event),
      ...LISTED_APP,
      recovery: {
        onNotice: (contact, notice) => void sent.push({ ...contact, notice }),
        onFactorsEnded: (user, factors) => {
          ended.push({ user, factors })
          if (setup.forgets !== false) {
            const left = user.factors.filter(({ method }) => !factors.some((one) => one.method === method))
            user.factors.splice(0, Number.POSITIVE_INFINITY, ...left)
          }
        },
        ...recovery,
      },
      ...options,
    } satisfies Partial<MfaOptions<TestUser>>,
  })
  return {
    ...made,
    sent,
    /** Sends the notices that are due, as a job of the host does. */
    sendDueNotices: () => createMfa(made.mfa).account.sendRecoveryNotices(),
    account: createMfa(made.mfa).account,
    metrics: () => createMfa(made.mfa).metrics(),
    ended,
    events,
    told: (type: MfaEvent['type']) => events.filter((event) => event.type === type),
    /** Where notices of that type went, in the order of the contacts. */
    toldContacts: (type: NoticeType) => sent.filter(({ notice }) => notice.type === type).map(({ to }) => to),
    /** The newest notice of that type, to that contact. */
    newest: (type: NoticeType, to?: string) => {
      const found = sent.findLast((one) => one.notice.type === type && (to === undefined || one.to === to))
      if (!found)
        throw new Error(`no notice of type ${type}; there are ${sent.map(({ notice }) => notice.type)}`)
      return found.notice
    },
  }
}

export type RecoveringHost = ReturnType<typeof recoveringHost>

/** Two processes of one app: they share sessions, stores, users and the service. */
export function twoProcesses(setup: HostSetup = {}) {
  const shared = {
    ...setup,
    store: new MemoryStore(),
    standIn: standInService(),
    options: { trustedDevices: { store: memoryStore() }, limits: { store: ownStore() }, ...setup.options },
  }
  const one = recoveringHost(shared)
  const other = recoveringHost(shared)
  Object.assign(other.users, one.users)
  return [one, other] as const
}

/** Signs in with the password and a code to the mailbox or the phone. */
export async function signInBy(
  { app, standIn }: Pick<Host, 'app' | 'standIn'>,
  name: string,
  factor: 'email' | 'sms' = 'email',
  agent: Agent = jsonAgent(app),
) {
  await login(agent, name).expect(200)
  await challenge(agent, factor).expect(200)
  const { body } = await verify(agent, standIn.newestCode()).expect(200)
  return { agent, body: body as { status: string; next: string } }
}

/** Signs in with the password and the authenticator app. */
export async function signInByApp({ app, standIn }: Pick<Host, 'app' | 'standIn'>, name = 'alice') {
  standIn.setApp(`${name}@example.com`, '424242')
  const agent = jsonAgent(app)
  await login(agent, name).expect(200)
  await verify(agent, '424242', { factor: 'app' }).expect(200)
  return agent
}

/** Signs in by email and requests a recovery. */
export async function requestRecovery(made: Pick<Host, 'app' | 'standIn'>, name = 'alice') {
  const { agent } = await signInBy(made, name)
  const { body } = await agent.post('/mfa/recover').send({}).expect(200)
  return { agent, body: body as { status: string; readyAt: string } }
}

/** The token of the link in a notice. */
export function tokenIn({ cancelUrl }: AccountNotice): string {
  const url = new URL(cancelUrl ?? '')
  if (url.origin !== PUBLIC_URL || url.pathname !== '/mfa/cancel-recovery') throw new Error(`no link: ${url}`)
  return url.searchParams.get('token') ?? ''
}

/** Lets the waiting period of 24 hours pass, with the reminder at half time. */
export async function waitForRecovery(made: RecoveringHost, clock: { move(ms: number): void }) {
  clock.move(12 * HOUR)
  await made.sendDueNotices()
  clock.move(12 * HOUR)
}
