import type { CompleteMfaService } from '../protocol/service.js'
import type { TranscriptionService } from '../protocol/transcription.js'
import type { Duration } from '../time.js'
import { type TestCarrier, type TestInbox, testCarrier, testInbox } from './carrier.js'
import { millisecondsIn, type TestClock, testClock } from './clock.js'
import { type TestRelyingParty, testKeys } from './key-service.js'
import {
  type FailureOptions,
  stepAt,
  type TestFailure,
  testService,
  totpCode,
  withFailures,
} from './service.js'

/** The authenticator apps of the users in a test. `user` is the email address or phone number in the factor. */
export interface TestApps {
  /** Gives a user a confirmed authenticator app and returns its base32 secret. */
  enroll(user: string): string
  /**
   * Returns the code that the user's app shows. If the user is setting up an app, it is the code of that one. If the
   * current code was already used, it moves the test clock to the next one. With `slowBy`, a duration like `4m` or
   * milliseconds, it returns the code of an app whose clock is slow by that much and leaves the test clock alone.
   * @throws if the user has no app.
   */
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
  readonly service: CompleteMfaService & Pick<TranscriptionService, 'transcribe'>
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
 * Creates an MFA service in this process, with an inbox, a message carrier, authenticator apps, a movable clock and
 * simulated failures. It needs no network, no waiting and no particular test runner.
 * @throws with `NODE_ENV=production`, because its codes can be read.
 */
export function mfaTestKit({ relyingParty }: MfaTestKitOptions = {}): MfaTestKit {
  refuseProduction('mfaTestKit')
  const inbox = testInbox()
  const { carrier, ...deliveries } = testCarrier(inbox)
  const keys = relyingParty && testKeys(relyingParty)
  const standIn = testService(deliveries, keys)
  const { service, fail, recover } = withFailures(standIn.service)
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
        if (slowBy !== undefined) return totpCode(secret, Date.now() - millisecondsIn(slowBy, 'slowBy'))
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

/**
 * Keeps test tools out of production, however `NODE_ENV` is spelled (R100).
 * @throws with `NODE_ENV=production`; the error names the function that was called.
 */
export function refuseProduction(name: string): void {
  if (!/^\s*prod(uction)?\s*$/i.test(process.env.NODE_ENV ?? '')) return
  throw new Error(`${name} is for tests and does not run with NODE_ENV=production.`)
}
