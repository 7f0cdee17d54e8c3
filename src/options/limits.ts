import * as z from 'zod'
import { duration, inMilliseconds, wholeNumber } from '../option-rules.js'
import { counterStoreConfig, type StoreConfig } from '../stores/config.js'
import type { CounterStore } from '../stores/store.js'
import type { Duration } from '../time.js'

/** The limits on wrong codes and on messages, and where they are counted. */
export interface LimitOptions {
  /**
   * Where the counters are kept: `memory`, `{ redis }`, `{ postgres: { pool, tableName? } }`, or an object with the
   * functions of `CounterStore`. In `memory`, counts are lost at a restart, and each process counts for itself. Defaults to
   * `memory`. See docs/options.md#stores.
   */
  store?: StoreConfig<CounterStore> | undefined
  /** How many codes are evaluated per challenge, 3 to 10. Defaults to 5. */
  attemptsPerChallenge?: number | undefined
  /** How many wrong codes on one account within any 24 hours lock it, 5 to 10. Defaults to 10. */
  failuresBeforeLock?: number | undefined
  /**
   * How many unforgiven failures disable a factor until it is bound again, 20 to 100. Defaults to 100. See
   * SECURITY.md#guessing-for-a-long-time.
   */
  failuresBeforeDisable?: number | undefined
  /** How long the first lock of an account lasts, `15m` to `24h`; each further one lasts twice as long, up to 24 hours. Defaults to `30m`. */
  lockDuration?: Duration | undefined
  /** How many messages one account may be sent in ten minutes, 1 to 5. Defaults to 5. */
  sendsPerTenMinutes?: number | undefined
  /** How many messages one account may be sent in a day, 1 to 10. Defaults to 10. */
  sendsPerDay?: number | undefined
  /**
   * How long the user waits each time before a code is sent again, `20s` to `1h`; the last wait repeats. Defaults to
   * `['30s', '60s', '120s']`.
   */
  resendWaits?: readonly Duration[] | undefined
  /** How long a delivered code is valid when the service does not say, `1m` to `10m`. Defaults to `5m`. */
  codeLifetime?: Duration | undefined
}

/** The rules of the option `limits`. */
export const limits = inMilliseconds(
  z.strictObject(
    {
      store: counterStoreConfig.prefault('memory'),
      attemptsPerChallenge: wholeNumber(3, 10, 'attempts').default(5),
      failuresBeforeLock: wholeNumber(5, 10, 'failures').default(10),
      failuresBeforeDisable: wholeNumber(20, 100, 'failures').default(100),
      lockDuration: duration('15m', '24h', '30m').prefault('30m'),
      sendsPerTenMinutes: wholeNumber(1, 5, 'messages').default(5),
      sendsPerDay: wholeNumber(1, 10, 'messages').default(10),
      resendWaits: z
        .array(duration('20s', '1h', '30s'), { error: 'must be a list of times like ["30s", "60s", "120s"]' })
        .min(1, { error: 'must contain at least one time, like ["30s"]' })
        .prefault(['30s', '60s', '120s']),
      codeLifetime: duration('1m', '10m', '5m').prefault('5m'),
    },
    { error: 'must be an object like { attemptsPerChallenge: 5 }' },
  ),
)
