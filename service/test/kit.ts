import { randomBytes } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Contact, MfaService } from 'countersign/protocol'
import { Secret, TOTP } from 'otpauth'
import { expect, vi } from 'vitest'
import { type Application, NOTICES, SWITCHED_METHODS } from '../src/application.js'
import type { Core } from '../src/flows/context.js'
import { storedInbox } from '../src/carriers/inbox.js'
import { type Carrier, CHANNELS, type Channel, DeliveryError, type Letter } from '../src/delivery/message.js'
import { storedOutbox } from '../src/delivery/outbox.js'
import { type Limits, limitsSchema } from '../src/limits.js'
import type { LogEvent } from '../src/log/logger.js'
import { rehearsalCarrier } from '../src/test-mode/simulated-carrier.js'
import { keysFrom } from '../src/secrets/keys.js'
import { openStore } from '../src/store/open.js'
import type { Store } from '../src/store/store.js'
import { transcriptionOf } from '../src/transcription/transcription.js'
import { inProcessService } from '../src/flows/in-process-service.js'

export const SECRET = 'a secret for tests, long enough to be taken'
export const API_KEY = 'key_for_tests_0123456789'

/** A carrier that keeps what it is given, and can be told to fail. */
export function recordingCarrier() {
  const letters: Letter[] = []
  const failures: DeliveryError[] = []
  const carrier: Carrier = {
    name: 'recording',
    async deliver(letter) {
      const failure = failures.shift()
      if (failure) throw failure
      letters.push(letter)
      return { id: `taken-${letters.length}` }
    },
    async close() {},
  }
  return { carrier, letters, failures }
}

/** The parts of a service over one store, whose messages are recorded. */
export interface Bench {
  readonly core: Core
  readonly store: Store
  readonly letters: readonly Letter[]
  readonly events: readonly LogEvent[]
  /** The next deliveries fail with these, in turn. */
  failNext(...failures: DeliveryError[]): void
  close(): Promise<void>
}

export async function openBench(where: { readonly databaseUrl?: string } = {}): Promise<Bench> {
  const keys = keysFrom(SECRET)
  const store = await openStore({ ...where, dataDir: 'memory://', keyId: keys.id })
  const { carrier, letters, failures } = recordingCarrier()
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const carriers = Object.fromEntries(CHANNELS.map((channel) => [channel, carrier]))
  const outbox = storedOutbox({
    store,
    keys,
    carriers,
    rehearsal: rehearsalCarrier(storedInbox(store, keys)),
    log,
  })
  const transcription = transcriptionOf({ transcriber: undefined, fetching: { hosts: [] }, log })
  return {
    core: { store, keys, outbox, transcription, log },
    store,
    letters,
    events,
    failNext: (...next) => void failures.push(...next),
    async close() {
      await outbox.close()
      await store.close()
    },
  }
}

/** An application that nobody else uses, and its messages. */
export interface Tenant {
  readonly application: Application
  readonly mfa: MfaService
  /** What was delivered, oldest first. */
  sent(channel?: Channel): Letter[]
  /** The code in the last message that carried one. */
  lastCode(): string
}

export function freshTenant(
  bench: Bench,
  settings: Partial<Omit<Application, 'limits'>> & { readonly limits?: Partial<Limits> } = {},
): Tenant {
  const application: Application = {
    id: randomBytes(6).toString('hex'),
    mode: 'live',
    name: 'Vault',
    origin: undefined,
    locale: 'en',
    tier: 'enterprise',
    methods: SWITCHED_METHODS,
    countries: [],
    notices: NOTICES,
    ...settings,
    limits: limitsSchema.parse(settings.limits ?? {}),
  }
  const sent = (channel?: Channel) =>
    bench.letters.filter(
      (letter) => letter.application === application.id && (!channel || letter.channel === channel),
    )
  return {
    application,
    mfa: inProcessService(bench.core, async () => application),
    sent,
    lastCode: () => sent().findLast((letter) => letter.code !== undefined)?.code ?? 'no code was sent',
  }
}

let people = 0

/** A mailbox nobody else has. */
export function freshEmail(): Contact & { kind: 'email' } {
  return { kind: 'email', email: `person${++people}@example.com` }
}

/** A telephone number nobody else has. */
export function freshPhone(): Contact & { kind: 'phone' } {
  return { kind: 'phone', phone: `+4477009${String(++people).padStart(5, '0')}` }
}

export function wrong(code: string): string {
  return code === '000000' ? '111111' : '000000'
}

export function appCode(secret: string, at = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
}

/** Lets the test say what time it is; nothing but `Date` is replaced. */
export function stopClock(at = '2027-03-01T12:00:00Z'): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(at) })
}

export function advance(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1000)
}

/** Waits until a condition holds, by the real clock. */
export function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 20_000, interval: 5 })
}

/** Listens on a free port of this machine. */
export async function listen(handler: RequestListener) {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    return error as Error
  }
  throw new Error('It was not rejected.')
}

export { DeliveryError }
