import { writeEventsSql } from './write-events.js'

/** What a statement on the outbox returns for `writeMessageEventsSql`. */
export const MESSAGE_COLUMNS = `outbox.application, outbox.account, outbox.id, outbox.challenge, outbox.channel, outbox.masked,
    outbox.carrier, outbox.fault, outbox.state, outbox.updated_at AS at`

/**
 * CTEs that write the events of messages that arrived, or that did not. `rows` is the CTE that returned `MESSAGE_COLUMNS` of the
 * changed messages; those that are queued or sent are no events.
 */
export function writeMessageEventsSql(rows: string): string {
  return writeEventsSql(`(SELECT application, account, type, at, jsonb_build_object('message', jsonb_strip_nulls(
      jsonb_build_object('id', id, 'challenge', challenge, 'channel', channel, 'to', masked, 'carrier', carrier,
        'reason', CASE WHEN type = 'message.failed' THEN fault END))) AS data
    FROM (SELECT *, CASE WHEN state = 'delivered' THEN 'message.delivered' ELSE 'message.failed' END AS type FROM ${rows}
      WHERE state IN ('delivered', 'failed', 'refused', 'expired')) AS message)`)
}
