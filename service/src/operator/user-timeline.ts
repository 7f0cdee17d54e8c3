import { partitionOf } from '../application.js'
import type { Actor } from './actor.js'
import { mustExist } from './applications.js'
import { accountOf, type UserReference } from './user-reference.js'

/** Something that happened to an account, without codes and contacts. */
export interface TimelineEntry {
  /** When it happened, in milliseconds since 1970. */
  readonly at: number
  /** `challenge`, `message` or `wrong code`. */
  readonly kind: 'challenge' | 'message' | 'wrong code'
  /** What it was, such as `sms for sign-in`. */
  readonly what: string
  /** How it ended, such as `typed` or `delivered`; empty for a wrong code. */
  readonly result: string
}

const MAX_ENTRIES = 50

/** The latest challenges, messages and wrong codes of an account, newest first. */
export async function userTimeline({ store }: Actor, user: UserReference): Promise<TimelineEntry[]> {
  await mustExist(store, user.application)
  const key = [partitionOf(user.application, user.mode), accountOf(user)]
  const rows = await store.lists.query<TimelineEntry & Record<string, string | number>>(
    `(SELECT created_at AS at, 'challenge' AS kind, method || ' for ' || purpose AS what,
        attempts || ' of ' || max_attempts || ' attempts, '
          || CASE WHEN ended_at IS NOT NULL THEN 'ended' WHEN expires_at <= $3 THEN 'expired' ELSE 'open' END AS result
      FROM challenge WHERE application = $1 AND account = $2 ORDER BY created_at DESC LIMIT ${MAX_ENTRIES})
     UNION ALL (SELECT created_at, 'message', channel || ' to ' || masked,
        state || coalesce(' by ' || carrier, '') || coalesce(', fault: ' || fault, '')
      FROM outbox WHERE application = $1 AND account = $2 ORDER BY created_at DESC LIMIT ${MAX_ENTRIES})
     UNION ALL (SELECT (entry ->> 'at')::bigint, 'wrong code', split_part(entry ->> 'factor', ':', 1), ''
      FROM account, jsonb_array_elements(failures) AS entry WHERE application = $1 AND account = $2)
     ORDER BY at DESC LIMIT ${MAX_ENTRIES}`,
    [...key, Date.now()],
  )
  return rows
}
