import { DEFAULT_APPLICATION } from '../accounts/applications/directory.js'
import { completeLimits, type Limits } from '../accounts/limits.js'
import { phoneCeiling } from '../accounts/phone-traffic.js'
import { createStatement, type Store } from '../store/store.js'
import type { Logger } from '../telemetry/log/logger.js'
import { DAY_MS, MINUTE_MS } from '../time.js'
import { type Diagnostic, reportOn } from './diagnostic.js'

/** A ceiling of an application's UTC day of which at least 80 % is used: of all messages, or of those to phones. */
export interface CeilingUse {
  readonly application: string
  readonly of: 'application' | 'phone'
  readonly sent: number
  readonly ceiling: number
}

type UseRow = Pick<Limits, 'sendsPerApplicationDay' | 'phoneSendsPercent'> &
  Pick<CeilingUse, 'application' | 'sent'> & { readonly phones: number }

const USED = createStatement<{ day: number; own: string; common: string }>(`WITH used AS (
    SELECT application, sum(messages)::integer AS sent FROM daily_budget WHERE day = :day::integer GROUP BY application
  )
  SELECT application, sent, (limits ->> 'sendsPerApplicationDay')::integer AS "sendsPerApplicationDay",
    (limits ->> 'phoneSendsPercent')::integer AS "phoneSendsPercent", coalesce((
      SELECT in_period FROM phone_traffic WHERE phone_traffic.application = used.application AND scope = 'phone' AND key = 'day'
        AND period = :day::integer), 0) AS phones
  FROM used JOIN application USING (application), LATERAL (
    SELECT CASE application WHEN '${DEFAULT_APPLICATION}' THEN :own::jsonb ELSE :common::jsonb END || settings::jsonb AS limits) AS known
  ORDER BY application`)

/** The ceilings of today that are used up, or nearly so (R43). `limits` are those of the application `default` without settings. */
export async function dailyCeilings(store: Store, limits = completeLimits({})): Promise<CeilingUse[]> {
  const rows = await USED.rows<UseRow>(store, {
    ...{ day: Math.floor(Date.now() / DAY_MS), own: JSON.stringify(limits) },
    common: JSON.stringify(completeLimits({})),
  })
  const uses = rows.flatMap(({ application, sent, phones, ...set }): CeilingUse[] => [
    { application, of: 'application', sent, ceiling: set.sendsPerApplicationDay },
    { application, of: 'phone', sent: phones, ceiling: phoneCeiling(set) },
  ])
  return uses.filter(({ sent, ceiling }) => sent >= ceiling * 0.8)
}

function describeUse({ of, sent, ceiling }: CeilingUse): string {
  const [messages, others] =
    of === 'phone' ? ['messages to phones', ' or phoneSendsPercent'] : ['messages', '']
  const effect = sent < ceiling ? '' : ' Further ones are refused until midnight UTC.'
  return `${sent} of ${ceiling} ${messages} of this UTC day are used up.${effect} Raise sendsPerApplicationDay${others}.`
}

/** Checks whether applications have used up what they may send today, or nearly so. Reports nothing if none has. */
export async function diagnoseCeilings(store: Store, limits: Limits | undefined): Promise<Diagnostic[]> {
  const { warning, error } = reportOn('traffic')
  return (await dailyCeilings(store, limits)).map((use) => {
    const about = { application: use.application, setting: 'sendsPerApplicationDay' }
    return (use.sent < use.ceiling ? warning : error)(`"${use.application}": ${describeUse(use)}`, about)
  })
}

/** Looks at the ceilings of today each minute, and logs once that one is used up, or nearly so. */
export function ceilingWatch(store: Store, limits: Limits, log: Logger) {
  const logged = new Set<string>()
  async function look(): Promise<readonly CeilingUse[]> {
    const uses = await dailyCeilings(store, limits)
    if (uses.length === 0) logged.clear()
    for (const use of uses) {
      const { application, of: reason, ceiling } = use
      const event = use.sent < ceiling ? 'traffic.budget_nearly_used_up' : 'traffic.budget_used_up'
      const alarm = [Math.floor(Date.now() / DAY_MS), application, reason, event, ceiling].join(' ')
      if (logged.has(alarm)) continue
      logged.add(alarm)
      log({ level: 'warn', event, application, reason, detail: describeUse(use) })
    }
    return uses
  }
  // A failure of the store is in the log already.
  const timer = setInterval(() => void look().catch(() => {}), MINUTE_MS).unref()
  return { look, stop: () => clearInterval(timer) }
}
