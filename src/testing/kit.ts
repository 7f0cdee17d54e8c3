import type { Duration } from '../duration.js'
import type { MfaService } from '../protocol/service.js'
import { type TestCarrier, testCarrier } from './carrier.js'
import { lengthOf, type TestClock, testClock } from './clock.js'
import { type FailureOptions, failing, type TestFailure } from './failures.js'
import { type TestInbox, testInbox } from './inbox.js'
import { refuseProduction } from './production.js'
import { testService } from './service.js'
import { stepAt, totpCode } from './totp.js'

/** Authenticator apps of the people in a test. `user` is the mailbox or number that the factor names. */
export interface TestApps {
  /** Gives somebody an app that is confirmed already; its base32 secret. */
  enrol(user: string): string
  /**
   * What somebody's app shows: the one that is being set up, if there is one. When the code of this half minute was
   * used before, the clock is moved to the next. `slowBy`: what it shows when its clock is as late as that, like `4m` or in
   * milliseconds; the clock of the test stays.
   * @throws when nobody has enrolled it.
   */
  code(user: string, clock?: { readonly slowBy?: Duration | number | undefined }): string
  /** Who has one. */
  users(): readonly string[]
}

/** What an app needs to test its sign-in with a second factor. */
export interface MfaTestKit {
  /** Give it to the plugin as the option `service`. */
  readonly service: MfaService
  readonly inbox: TestInbox
  readonly apps: TestApps
  readonly carrier: TestCarrier
  readonly clock: TestClock
  /** Has the next call to the service fail, or the next few. */
  fail(how: TestFailure, options?: FailureOptions): void
  /** Ends all failures that are still to come. */
  recover(): void
  /** Forgets everything and sets the clock right: for the end of a test. */
  reset(): void
}

/**
 * An MFA service in this process, with an inbox and what carries messages into it, authenticator apps, a clock that
 * moves, and failures on demand. No network, no sleeping, no test runner needed.
 * @throws in production: its codes can be read by whoever holds it.
 */
export function mfaTestKit(): MfaTestKit {
  refuseProduction('mfaTestKit')
  const inbox = testInbox()
  const carrying = testCarrier(inbox)
  const stand = testService(carrying)
  const { service, fail, recover } = failing(stand.service)
  return {
    service,
    inbox,
    carrier: carrying.carrier,
    clock: testClock,
    apps: {
      enrol: stand.enrol,
      users: () => [...stand.apps.keys()],
      code(user, { slowBy } = {}) {
        const app = stand.apps.get(user)
        if (!app) throw new Error(`${user} has no authenticator app: kit.apps.enrol('${user}') gives one.`)
        const secret = app.pending ?? app.secret
        if (slowBy !== undefined) return totpCode(secret, Date.now() - lengthOf(slowBy, 'slowBy'))
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
      carrying.forget()
      stand.forget()
      testClock.reset()
    },
  }
}
