import type { CompleteMfaService } from '../protocol/service.js'
import { type Duration, durationMs } from '../time.js'
import { type TestCarrier, type TestInbox, testCarrier, testInbox } from './carrier.js'
import { type TestRelyingParty, testKeys } from './key-service.js'
import {
  addFailures,
  type FailureOptions,
  stepAt,
  type TestFailure,
  testService,
  totpCode,
} from './service.js'

/** The authenticator apps of the users in a test. `user` is the email address or phone number in the factor. */
export interface TestApps {
  /** Gives a user a confirmed authenticator app and returns its base32 secret. */
  enroll(user: string): string
  /** The code that the user's app shows. If it was used, the test clock moves on. `slowBy`: how slow its clock is. @throws without an app. */
  code(user: string, clock?: { readonly slowBy?: Duration | undefined }): string
  /** The users who have an app. */
  users(): readonly string[]
}

/** Options of `mfaTestKit`. */
export interface MfaTestKitOptions {
  /** The relying party of security keys and passkeys. Without it, the service offers none. */
  readonly relyingParty?: TestRelyingParty | undefined
}

/** The tools to test an app's sign-in with a second factor. */
export interface MfaTestKit {
  /** The MFA service. Pass it to the plugin as the option `service`. */
  readonly service: CompleteMfaService
  /** The messages that the service has delivered. */
  readonly inbox: TestInbox
  /** The authenticator apps of the users. */
  readonly apps: TestApps
  /** The carrier that delivers the messages, or refuses them. */
  readonly carrier: TestCarrier
  /** The clock of the process, which tests can move. */
  readonly clock: TestClock
  /** Makes the next call to the service fail, or the next few calls. */
  fail(how: TestFailure, options?: FailureOptions): void
  /** Cancels all planned failures. */
  recover(): void
  /** Resets everything, including the clock. Call it after each test. */
  reset(): void
}

/**
 * Creates an MFA service in this process, with an inbox, a carrier, authenticator apps, a movable clock and simulated failures.
 * @throws with `NODE_ENV=production`, because its codes can be read.
 */
export function mfaTestKit({ relyingParty }: MfaTestKitOptions = {}): MfaTestKit {
  refuseProduction('mfaTestKit')
  const inbox = testInbox()
  const { carrier, ...deliveries } = testCarrier(inbox)
  const keys = relyingParty && testKeys(relyingParty)
  const standIn = testService(deliveries, keys)
  const { service, fail, recover } = addFailures(standIn.service)
  return {
    service,
    inbox,
    carrier,
    clock: testClock,
    apps: {
      enroll: standIn.enroll,
      users: () => [...standIn.apps.keys()],
      code(user, { slowBy } = {}) {
        const app = standIn.apps.get(user)
        if (!app)
          throw new Error(`${user} has no authenticator app. Add one with kit.apps.enroll('${user}').`)
        const secret = app.pendingSecret ?? app.secret
        if (slowBy !== undefined) return totpCode(secret, Date.now() - parseMilliseconds(slowBy, 'slowBy'))
        if (stepAt(Date.now()) <= app.lastStep) {
          testClock.advance((app.lastStep + 1) * 30_000 - Date.now())
        }
        return totpCode(secret)
      },
    },
    fail,
    recover,
    reset() {
      recover()
      inbox.clear()
      deliveries.reset()
      standIn.reset()
      testClock.reset()
    },
  }
}

/** Keeps test tools out of production (R100). @throws with `NODE_ENV=production`, however it is spelled. */
export function refuseProduction(name: string): void {
  if (!/^\s*prod(uction)?\s*$/i.test(process.env.NODE_ENV ?? '')) return
  throw new Error(`${name} is for tests and does not run with NODE_ENV=production.`)
}

/** The clock of this process, which a test can move. */
export interface TestClock {
  /** Moves the time by a duration like `5m`, or by milliseconds; a negative number moves it backward. */
  advance(by: Duration): void
  /** Restores the real time. */
  reset(): void
}

/*
 * The clock replaces the global Date. The plugin, the stores of its counters, express-session and the app all use it,
 * so they agree on the time, with any test runner. Timers run in real time.
 */

/** The date that each of ours replaced, and by how much it is moved. A test runner may put a date of its own between two of them. */
const clocks = new Map<DateConstructor, { readonly original: DateConstructor; offsetMs: number }>()

/** The one clock of this process. */
const testClock: TestClock = {
  advance(by) {
    const ms = parseMilliseconds(by, 'clock.advance')
    const clock = clocks.get(globalThis.Date) ?? replaceDate()
    clock.offsetMs += ms
  },
  reset() {
    for (let clock = clocks.get(Date); clock; clock = clocks.get(Date)) globalThis.Date = clock.original
    // For one that comes back when a test runner takes its own away.
    for (const clock of clocks.values()) clock.offsetMs = 0
    clocks.clear()
  },
}

/** Converts a duration to milliseconds. @throws {TypeError} that starts with `parameter` for any other text. */
function parseMilliseconds(duration: Duration, parameter: string): number {
  const ms = typeof duration === 'number' ? duration : durationMs(duration)
  if (ms !== undefined && Number.isFinite(ms)) return ms
  throw new TypeError(
    `${parameter} must be a duration like "5m" or a number of milliseconds (got ${String(duration)})`,
  )
}

function replaceDate() {
  const original = globalThis.Date
  const state = { original, offsetMs: 0 }
  const getNow = () => original.now() + state.offsetMs
  globalThis.Date = new Proxy(original, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [getNow()] : args, newTarget),
    apply: () => new original(getNow()).toString(),
    get: (target, name) => (name === 'now' ? getNow : Reflect.get(target, name)),
  })
  clocks.set(globalThis.Date, state)
  return state
}
