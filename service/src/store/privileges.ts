import { escapeIdentifier } from 'pg'
import { ConfigurationError } from '../process/configuration-error.js'
import { SLOTS, slotTable } from './outbox-slots.js'
import { findSqlState, INSUFFICIENT_PRIVILEGE } from './sql-state.js'
import type { Store } from './store.js'

/** The schema of the tables in a new PostgreSQL database. */
export const SCHEMA = 'mfa'

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

/** All tables. */
export const ALL_TABLES: readonly string[] = ['migration', ...TABLES, ...TRUNCATED]

/** A name with the schema before it, as it is written in a statement. */
export const nameIn = (schema: string, name: string): string => `${escapeIdentifier(schema)}.${name}`

const SEQUENCES = ['audit_position_seq', 'inbox_position_seq']

/** The privileges that the role of this store lacks to run the service, such as `UPDATE ON account` (R102). */
export async function missingPrivileges(store: Store): Promise<string[]> {
  // The catalog also shows what is in a schema that the role may not use.
  const rows = await store.query<{ missing: string }>(
    `WITH space AS (SELECT oid, nspname FROM pg_namespace WHERE nspname = $4),
     own AS (SELECT pg_class.oid, relname AS name FROM pg_class JOIN space ON relnamespace = space.oid)
     SELECT 'USAGE ON SCHEMA ' || quote_ident(nspname) AS missing FROM space WHERE NOT has_schema_privilege(oid, 'USAGE')
     UNION ALL SELECT privilege || ' ON ' || name FROM own, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
     WHERE name = ANY ($1::text[]) AND NOT has_table_privilege(oid, privilege)
     UNION ALL SELECT 'SELECT ON migration' FROM own WHERE name = 'migration' AND NOT has_table_privilege(oid, 'SELECT')
     UNION ALL SELECT 'TRUNCATE ON ' || name FROM own
     WHERE name = ANY ($3::text[]) AND NOT has_table_privilege(oid, 'TRUNCATE')
     UNION ALL SELECT 'USAGE ON SEQUENCE ' || name FROM own
     WHERE CASE WHEN name = ANY ($2::text[]) THEN NOT has_sequence_privilege(oid, 'USAGE') END`,
    [TABLES, SEQUENCES, TRUNCATED, store.schema],
  )
  return rows.map(({ missing }) => missing)
}

/** The fault when these privileges are missing, and what to do. */
export function lackOfPrivileges(missing: readonly string[]): string {
  return (
    `The role of the database (DATABASE_URL) lacks privileges: ${missing.join(', ')}. ` +
    'Run `countersign-service migrate --grant <role>` as the role that owns the tables.'
  )
}

/** Lets a role connect, read and write rows, and nothing else. Throws a `ConfigurationError` if it does not exist or this role may not. */
export async function grantPrivileges(store: Store, role: string): Promise<void> {
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
     UNION ALL SELECT 'USAGE ON SCHEMA ' || quote_ident($2)
     WHERE NOT has_schema_privilege($1::name, $2, 'USAGE')`,
    [role, store.schema],
  )
  for (const { missing: privilege } of missing) {
    await store.query(`GRANT ${privilege} TO ${name}`).catch((error: unknown) => {
      if (findSqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
      const fault = `The role of the database (DATABASE_URL) may not give all privileges. As the owner of the database, run: GRANT ${privilege} TO ${name}.`
      throw new ConfigurationError([fault], { cause: error })
    })
  }
  const grant = (privilege: string, names: readonly string[]) =>
    store.query(`GRANT ${privilege} ${names.map((own) => nameIn(store.schema, own)).join(', ')} TO ${name}`)
  await grant('SELECT, INSERT, UPDATE, DELETE ON', TABLES)
  await grant('TRUNCATE ON', TRUNCATED)
  await grant('SELECT ON', ['migration'])
  await grant('USAGE ON SEQUENCE', SEQUENCES)
}
