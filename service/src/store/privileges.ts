import { escapeIdentifier } from 'pg'
import type { Queries } from './store.js'

/** The tables whose rows the service reads and writes. */
export const TABLES = [
  'account',
  'account_key',
  'activity',
  'api_key',
  'app_secret',
  'application',
  'application_webhook',
  'approval_request',
  'audit',
  'backup_code',
  'backup_set',
  'budget',
  'challenge',
  'console_counter',
  'console_session',
  'daily_budget',
  'event_delivery',
  'event_endpoint',
  'factor',
  'idempotent_request',
  'inbox',
  'key_challenge',
  'key_user',
  'lease',
  'mail_complaint',
  'operator_account',
  'operator_relation',
  'outbox',
  'phone_traffic',
  'sealing_key',
  'stream_ticket',
  'transcription_job',
  'transcription_job_part',
] as const

/** The partitions of the outbox, which are emptied whole. */
const TRUNCATED = Array.from({ length: 12 }, (_, slot) => `outbox_${slot}`)

const SEQUENCES = ['audit_position_seq', 'inbox_position_seq']

/** The privileges that the role of this store lacks to run the service, such as `UPDATE ON account` (R102). */
export async function missingPrivileges(store: Queries): Promise<string[]> {
  const rows = await store.query<{ missing: string }>(
    `SELECT privilege || ' ON ' || name AS missing
     FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE CASE WHEN to_regclass(name) IS NOT NULL THEN NOT has_table_privilege(name, privilege) END
     UNION ALL SELECT 'SELECT ON migration' WHERE NOT has_table_privilege('migration', 'SELECT')
     UNION ALL SELECT 'TRUNCATE ON ' || name FROM unnest($3::text[]) AS name
     WHERE CASE WHEN to_regclass(name) IS NOT NULL THEN NOT has_table_privilege(name, 'TRUNCATE') END
     UNION ALL SELECT 'USAGE ON SEQUENCE ' || name FROM unnest($2::text[]) AS name
     WHERE CASE WHEN to_regclass(name) IS NOT NULL THEN NOT has_sequence_privilege(name, 'USAGE') END`,
    [TABLES, SEQUENCES, TRUNCATED],
  )
  return rows.map(({ missing }) => missing)
}

/** Gives a role what it needs to run the service: it may read and write rows, and change nothing else. */
export async function grantPrivileges(store: Queries, role: string): Promise<void> {
  const name = escapeIdentifier(role)
  await store.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${TABLES.join(', ')} TO ${name}`)
  await store.query(`GRANT TRUNCATE ON ${TRUNCATED.join(', ')} TO ${name}`)
  await store.query(`GRANT SELECT ON migration TO ${name}`)
  await store.query(`GRANT USAGE ON SEQUENCE ${SEQUENCES.join(', ')} TO ${name}`)
}
