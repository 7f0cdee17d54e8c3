import * as z from 'zod'
import { createOptionsSchema, duration, type Given, setType, wholeNumber } from '../option-rules.js'
import { counterStoreConfig } from '../stores/config.js'

/** The rules of the option `limits`. */
export class LimitRules {
  /**
   * Where the counters are kept. In `memory`, counts are lost at a restart, and each process counts for itself. Defaults
   * to `memory`. See docs/options.md#stores.
   */
  readonly store = counterStoreConfig.prefault('memory')
  /** How many codes are evaluated per challenge, 3 to 10. Defaults to 5. */
  readonly attemptsPerChallenge = wholeNumber(3, 10, 'attempts').default(5)
  /** How many wrong codes on one account within any 24 hours lock it, 5 to 10. Defaults to 10. */
  readonly failuresBeforeLock = wholeNumber(5, 10, 'failures').default(10)
  /**
   * How many unforgiven failures disable a factor until it is bound again, 20 to 100. Defaults to 100. See
   * SECURITY.md#guessing-for-a-long-time.
   */
  readonly failuresBeforeDisable = wholeNumber(20, 100, 'failures').default(100)
  /** How long the first lock of an account lasts, `15m` to `24h`; each further one lasts twice as long, up to 24 hours. Defaults to `30m`. */
  readonly lockDuration = duration('15m', '24h', '30m').prefault('30m')
  /** How many messages one account may be sent in ten minutes, 1 to 5. Defaults to 5. */
  readonly sendsPerTenMinutes = wholeNumber(1, 5, 'messages').default(5)
  /** How many messages one account may be sent in a day, 1 to 10. Defaults to 10. */
  readonly sendsPerDay = wholeNumber(1, 10, 'messages').default(10)
  /**
   * How long the user waits each time before a code is sent again, `20s` to `1h`; the last wait repeats. Defaults to
   * `['30s', '60s', '120s']`.
   */
  readonly resendWaits = z
    .array(duration('20s', '1h', '30s'), { error: 'must be a list of times like ["30s", "60s", "120s"]' })
    .min(1, { error: 'must contain at least one time, like ["30s"]' })
    .readonly()
    .prefault(['30s', '60s', '120s'])
  /** How long a delivered code is valid when the service does not say, `1m` to `10m`. Defaults to `5m`. */
  readonly codeLifetime = duration('1m', '10m', '5m').prefault('5m')
}

/** The limits on wrong codes and on messages, and where they are counted. */
export interface LimitOptions extends Given<LimitRules> {}

/** The option `limits`. */
export const limits = setType<LimitOptions>()(
  createOptionsSchema(new LimitRules(), 'must be an object like { attemptsPerChallenge: 5 }'),
)
