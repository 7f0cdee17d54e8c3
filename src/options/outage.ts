import * as z from 'zod'
import { duration, inMilliseconds } from '../option-rules.js'
import type { Duration } from '../time.js'

/** What happens while the service fails. See docs/outage.md. */
export interface OutageOptions {
  /**
   * What the user is offered when the service cannot deliver a code: `nothing`, their other factors (`other-factor`), or their backup
   * codes only (`backup-only`). A code that cannot be checked never passes. Defaults to `nothing`.
   */
  offer?: 'nothing' | 'other-factor' | 'backup-only' | undefined
  /**
   * How long a session that was let in without a factor goes on after the last answer of the service, `1m` to `24h`. It passes no
   * guard meanwhile. Defaults to `1h`.
   */
  keepSessions?: Duration | undefined
}

/** The rules of the option `outage`. */
export const outage = inMilliseconds(
  z.strictObject(
    {
      offer: z
        .enum(['nothing', 'other-factor', 'backup-only'], {
          error: 'must be "nothing", "other-factor" or "backup-only"',
        })
        .default('nothing'),
      keepSessions: duration('1m', '24h', '1h').prefault('1h'),
    },
    { error: 'must be an object like { offer: "other-factor" }' },
  ),
)
