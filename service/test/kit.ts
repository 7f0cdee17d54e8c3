import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { CompleteMfaService, Contact } from 'countersign/protocol'
import type { TranscriptionService } from 'countersign/speech'
import { Secret, TOTP } from 'otpauth'
import { expect, vi } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { PATIENCE_MS } from '../../test/kit/patience.js'
import { type Application, NOTICES, OPTIONAL_METHODS } from '../src/accounts/application.js'
import { DEFAULT_KEY_POLICY } from '../src/accounts/applications/key-settings.js'
import { endUndelivered } from '../src/accounts/challenge.js'
import { completeLimits, type LimitOptions } from '../src/accounts/limits.js'
import { type FlowContext, limitRequestsUnderWay } from '../src/flows/context.js'
import { inProcessService } from '../src/flows/in-process-service.js'
import { phoneTraffic } from '../src/flows/phone-traffic.js'
import { simulatedCarrier } from '../src/flows/test-mode/simulated-carrier.js'
import { activityCounter } from '../src/messages/activity/count-activity.js'
import { storedInbox } from '../src/messages/carriers/inbox.js'
import { type Carrier, DeliveryError } from '../src/messages/delivery/carrier.js'
import { storedOutbox } from '../src/messages/delivery/outbox.js'
import type { QueuedMessage } from '../src/messages/delivery/queued-message.js'
import { hasComplained } from '../src/messages/delivery/report-table.js'
import { CHANNELS, type Channel } from '../src/messages/message.js'
import { openStore } from '../src/store/open.js'
import { deriveKeys } from '../src/store/secrets/keys.js'
import type { Store } from '../src/store/store.js'
import type { LogEvent } from '../src/telemetry/log/logger.js'
import { transcriptionJobs } from '../src/transcription/jobs/transcription-jobs.js'
import { createLiveTranscription } from '../src/transcription/live/live-transcription.js'
import { createTranscription } from '../src/transcription/transcription.js'

export const SECRET = 'a secret for tests, long enough to be taken'
export const API_KEY = 'key_for_tests_0123456789'

/** A carrier that records its messages and can be made to fail or to wait. */
export function recordingCarrier() {
  const messages: QueuedMessage[] = []
  const failures: DeliveryError[] = []
  const delays: Promise<void>[] = []
  const carrier: Carrier = {
    name: 'recording',
    async deliver(message) {
      // Notices go out on their own, before or after what a test waits for.
      const failure = message.purpose === 'notice' ? undefined : failures.shift()
      if (failure) throw failure
      await delays.shift()
      messages.push(message)
      return { id: `taken-${messages.length}` }
    },
    async close() {},
  }
  return { carrier, messages, failures, delays }
}

/** The parts of a service on one store, which records its messages. */
export interface Bench {
  readonly context: FlowContext
  readonly store: Store
  readonly messages: readonly QueuedMessage[]
  readonly events: readonly LogEvent[]
  /** Makes the next deliveries fail with these errors, in order, apart from those of notices. */
  failNext(...failures: DeliveryError[]): void
  /** Makes the next delivery wait for this. */
  delayNext(until: Promise<void>): void
  close(): Promise<void>
}

/**
 * The answers to so many requests that are sent at once. Left out are those that the service refuses because they waited too long for a
 * connection to the database, as on a busy machine: they change nothing.
 */
export async function answersAtOnce<T>(count: number, request: () => Promise<T>): Promise<T[]> {
  const settled = await Promise.allSettled(Array.from({ length: count }, request))
  return settled.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value]
    if (/^The database did not respond in time/.test(result.reason?.cause?.message)) return []
    throw result.reason
  })
}

export async function openBench(where: { readonly databaseUrl?: string } = {}): Promise<Bench> {
  const keys = deriveKeys(SECRET)
  const store = await openStore({ ...where, dataDir: 'memory://', keyId: keys.id })
  const { carrier, messages, failures, delays } = recordingCarrier()
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const carriers = Object.fromEntries(CHANNELS.map((channel) => [channel, carrier]))
  const activity = activityCounter(store, log)
  const outbox = storedOutbox({
    store,
    keys,
    activity,
    carriers,
    simulated: simulatedCarrier(storedInbox(store, keys)),
    deliveryOf: async (application) => ({
      senders: {},
      carriers: {},
      hasComplained: (email) => hasComplained(store, application, email),
    }),
    log,
    onUndelivered: (message, now) => endUndelivered(store, message, now),
  })
  const transcription = createTranscription({
    transcriber: undefined,
    fetchOptions: { hosts: [] },
    log,
    maxConcurrent: 1,
  })
  const jobs = transcriptionJobs({ store, keys, transcription, log })
  const live = createLiveTranscription({ engine: undefined, maxStreams: 1, log })
  const traffic = phoneTraffic(store, log)
  return {
    context: {
      ...{ store, keys, outbox, transcription, jobs, live, activity, log },
      phoneTraffic: traffic,
      // Races need more requests at once than a process allows.
      underWay: limitRequestsUnderWay(1_000),
    },
    store,
    messages,
    events,
    failNext: (...next) => void failures.push(...next),
    delayNext: (until) => void delays.push(until),
    async close() {
      await jobs.close()
      await outbox.close()
      await traffic.close()
      await activity.close()
      await store.close()
    },
  }
}

/** A new application, and its messages. */
export interface Tenant {
  readonly application: Application
  readonly mfa: CompleteMfaService & TranscriptionService
  /** The delivered messages, oldest first. */
  sent(channel?: Channel): QueuedMessage[]
  /** The code in the last message that carried one. */
  lastCode(): string
}

export function freshTenant(
  bench: Bench,
  settings: Partial<Omit<Application, 'limits'>> & { readonly limits?: LimitOptions } = {},
): Tenant {
  const application: Application = {
    id: randomBytes(6).toString('hex'),
    mode: 'live',
    name: 'Vault',
    origin: undefined,
    locale: 'en',
    texts: {},
    webhookChannels: [],
    tier: 'enterprise',
    methods: OPTIONAL_METHODS,
    countries: [],
    spending: { prices: {}, perDay: undefined, perMonth: undefined },
    notices: NOTICES,
    relyingParty: undefined,
    keyPolicy: DEFAULT_KEY_POLICY,
    ...settings,
    limits: completeLimits(settings.limits ?? {}),
  }
  const sent = (channel?: Channel) =>
    bench.messages.filter(
      (message) => message.application === application.id && (!channel || message.channel === channel),
    )
  return {
    application,
    mfa: inProcessService(bench.context, async () => application),
    sent,
    lastCode: () => sent().findLast((message) => message.code !== undefined)?.code ?? 'no code was sent',
  }
}

let users = 0

/** A new mailbox. */
export function freshEmail(): Contact & { kind: 'email' } {
  return { kind: 'email', email: `user${++users}@example.com` }
}

/** A new phone number; they repeat after a thousand, which are the fictitious mobile numbers of the United Kingdom. */
export function freshPhone(): Contact & { kind: 'phone' } {
  return { kind: 'phone', phone: `+447700900${String(++users % 1_000).padStart(3, '0')}` }
}

export function wrong(code: string): string {
  return code === '000000' ? '111111' : '000000'
}

export function appCode(secret: string, at = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
}

/** Sets the clock to noon of the next day (UTC), so that the test moves it; only `Date` is replaced. */
export function stopClock(): void {
  // Not further away: PGlite sets its timers by the clock, and one that is more than 24 days off does not fit into Node's timers.
  const noon = new Date(Date.now() + DAY_MS).setUTCHours(12, 0, 0, 0)
  vi.useFakeTimers({ toFake: ['Date'], now: noon })
}

const DAY_MS = 24 * 60 * 60_000

export function advance(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1000)
}

/** Waits until a condition holds, in real time. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 })
}

/** Listens on a free port of this machine. */
export async function listen(handler: RequestListener) {
  const server = createServer(handler)
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The error with which a promise is rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    return error as Error
  }
  throw new Error('The promise was not rejected.')
}

export { DeliveryError }
