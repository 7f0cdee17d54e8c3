import * as z from 'zod'
import { createOptionsSchema, duration, type Given, setType } from '../option-rules.js'

/** The rules of the option `outage`. */
export class OutageRules {
  /**
   * The way out that the user is offered when the service cannot deliver a code: `nothing`, their other factors (`other-factor`), or
   * their backup codes only (`backup-only`). Defaults to `nothing`.
   */
  readonly offer = z
    .enum(['nothing', 'other-factor', 'backup-only'], {
      error: 'must be "nothing", "other-factor" or "backup-only"',
    })
    .default('nothing')
  /**
   * How long a session that was let in without a factor goes on after the last answer of the service, `1m` to `24h`. It passes no
   * guard meanwhile. Defaults to `1h`.
   */
  readonly keepSessions = duration('1m', '24h', '1h').prefault('1h')
}

/** The behaviour while the service fails. See docs/outage.md. */
export interface OutageOptions extends Given<OutageRules> {}

/** The option `outage`. */
export const outage = setType<OutageOptions>()(
  createOptionsSchema(new OutageRules(), 'must be an object like { offer: "other-factor" }'),
)
