import { escapeIdentifier } from 'pg'
import { ConfigurationError } from '../telemetry/configuration-error.js'
import { SLOTS, slotTable } from './outbox-slots.js'
import { INSUFFICIENT_PRIVILEGE, sqlStateOf } from './sql-state.js'
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
const TRUNCATED = Array.from({ length: SLOTS }, (_, slot) => slotTable(slot))

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

/** What is wrong when these privileges are missing, and what to do. */
export function lackOfPrivileges(missing: readonly string[]): string {
  return (
    `The role of the database (DATABASE_URL) lacks privileges: ${missing.join(', ')}. ` +
    'Run `countersign-service migrate --grant <role>` as the role that owns the tables.'
  )
}

/** The schemas in which the role of this store would look for the tables, but may not, such as `USAGE ON SCHEMA public`. */
export async function missingSchemas(store: Queries): Promise<string[]> {
  const rows = await store.query<{ missing: string }>(
    `SELECT 'USAGE ON SCHEMA ' || quote_ident(nspname) AS missing FROM pg_namespace
     WHERE current_schema() IS NULL AND NOT has_schema_privilege(oid, 'USAGE')
       AND quote_ident(nspname) = ANY (string_to_array(
         replace(replace(current_setting('search_path'), '"$user"', quote_ident(current_user)), ' ', ''), ','))`,
  )
  return rows.map(({ missing }) => missing)
}

/** Lets a role connect, read and write rows, and nothing else. Throws a `ConfigurationError` if it does not exist or this role may not. */
export async function grantPrivileges(store: Queries, role: string): Promise<void> {
  const name = escapeIdentifier(role)
  const known = await store.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  if (known.length === 0) {
    throw new ConfigurationError([
      `The database has no role ${name}. Create it first: CREATE ROLE ${name} LOGIN PASSWORD '…'.`,
    ])
  }
  // Every role has these two, unless they were revoked; who owns the tables may not own the database.
  const missing = await store.query<{ missing: string }>(
    `SELECT 'CONNECT ON DATABASE ' || quote_ident(current_database()) AS missing
     WHERE NOT has_database_privilege($1::name, current_database(), 'CONNECT')
     UNION ALL SELECT 'USAGE ON SCHEMA ' || quote_ident(current_schema())
     WHERE NOT has_schema_privilege($1::name, current_schema(), 'USAGE')`,
    [role],
  )
  for (const { missing: privilege } of missing) {
    await store.query(`GRANT ${privilege} TO ${name}`).catch((error: unknown) => {
      if (sqlStateOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
      const fault = `The role of the database (DATABASE_URL) may not give all privileges. As the owner of the database, run: GRANT ${privilege} TO ${name}.`
      throw new ConfigurationError([fault], { cause: error })
    })
  }
  await store.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${TABLES.join(', ')} TO ${name}`)
  await store.query(`GRANT TRUNCATE ON ${TRUNCATED.join(', ')} TO ${name}`)
  await store.query(`GRANT SELECT ON migration TO ${name}`)
  await store.query(`GRANT USAGE ON SEQUENCE ${SEQUENCES.join(', ')} TO ${name}`)
}
