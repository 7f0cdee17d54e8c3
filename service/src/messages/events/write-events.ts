import type { WebhookEventType } from 'countersign/protocol'
import { createStatement, type Queries } from '../../store/store.js'

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

const WRITE = createStatement<{
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
  readonly account?: string | null
  readonly type: WebhookEventType
  /** The fields of the event beside application and user, without secrets and full contacts. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Writes an event in the transaction of its change. */
export async function writeEvent(
  tx: Queries,
  { application, account = null, type, data }: NewEvent,
  now: number,
): Promise<void> {
  await WRITE.rows(tx, { application, account, type, data: JSON.stringify(data), now })
}

/** The columns that a statement on the outbox returns for `writeMessageEventsSql`. */
export const MESSAGE_COLUMNS = `outbox.application, outbox.account, outbox.id, outbox.challenge, outbox.channel, outbox.masked,
    outbox.carrier, outbox.fault, outbox.state, outbox.updated_at AS at`

/** CTEs that write the events of messages that arrived or did not. `rows` is the CTE that returned `MESSAGE_COLUMNS` of those that changed. */
export function writeMessageEventsSql(rows: string): string {
  return writeEventsSql(`(SELECT application, account, type, at, jsonb_build_object('message', jsonb_strip_nulls(
      jsonb_build_object('id', id, 'challenge', challenge, 'channel', channel, 'to', masked, 'carrier', carrier,
        'reason', CASE WHEN type = 'message.failed' THEN fault END))) AS data
    FROM (SELECT *, CASE WHEN state = 'delivered' THEN 'message.delivered' ELSE 'message.failed' END AS type FROM ${rows}
      WHERE state IN ('delivered', 'failed', 'refused', 'expired')) AS message)`)
}
