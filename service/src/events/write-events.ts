import type { webhooks } from 'countersign/protocol'
import { statement } from '../store/statement.js'
import type { Queries } from '../store/store.js'

/**
 * CTEs that write an event for each row of `source` to every endpoint of the application that asked for its type, so that the event
 * is committed together with the change it is about. `source` has the columns application, account, type, data and at. Where no
 * endpoint asked, nothing is written.
 */
export function writeEventsSql(source: string): string {
  return `event AS MATERIALIZED (
    SELECT 'evt_' || replace(gen_random_uuid()::text, '-', '') AS id, application, account, type, data, at
    FROM ${source} AS changed_row
  ), event_written AS (
    INSERT INTO event_delivery (application, endpoint, id, type, account, data, created_at, due_at)
    SELECT event.application, endpoint.id, event.id, event.type, event.account, event.data, event.at, event.at
    FROM event JOIN event_endpoint AS endpoint
      ON endpoint.application = event.application AND event.type = ANY (endpoint.types)
    WHERE endpoint.disabled_at IS NULL
  )`
}

const WRITE = statement<{
  application: string
  account: string | null
  type: string
  data: string
  now: number
}>(
  `WITH ${writeEventsSql(
    `(SELECT :application::text AS application, :account::text AS account, :type::text AS type, :data::jsonb AS data,
      :now::bigint AS at)`,
  )} SELECT`,
)

/** An event to be written. */
export interface NewEvent {
  /** The id of the application; events of test keys are written nowhere, because no endpoint has their id. */
  readonly application: string
  /** The account that it is about, as in rows. */
  readonly account?: string
  readonly type: webhooks.WebhookEventType
  /** What the event says beside application and user, without secrets and full contacts. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Writes an event in the transaction of its change. */
export async function writeEvent(
  tx: Queries,
  { application, account, type, data }: NewEvent,
  now: number,
): Promise<void> {
  const parameters = { application, account: account ?? null, type, data: JSON.stringify(data), now }
  await tx.query(WRITE.text, WRITE.values(parameters))
}
