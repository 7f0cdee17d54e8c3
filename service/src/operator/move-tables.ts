import { APPLICATION_NAME } from '../store/postgres-connections.js'
import { ALL_TABLES, SCHEMA } from '../store/privileges.js'
import { type Actor, OperatorError, writeAudit } from './audited-change.js'

/** The statements of a move. Roles keep their privileges, and may use the new schema (R102). */
const MOVES = `WITH own AS (
  SELECT nspname, relname, relowner, relacl FROM pg_class JOIN pg_namespace AS space ON relnamespace = space.oid
  WHERE nspname = $1 AND relname = ANY ($3::text[]))
SELECT DISTINCT format('CREATE SCHEMA %I AUTHORIZATION %I', $2::text, pg_get_userbyid(relowner)) AS text, 1 AS place FROM own
WHERE relname = 'migration' AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = $2)
UNION SELECT format('ALTER TABLE %I.%I SET SCHEMA %I', nspname, relname, $2::text), 2 FROM own
UNION SELECT format('GRANT USAGE ON SCHEMA %I TO %I', $2::text, pg_get_userbyid(grantee)), 3 FROM own, aclexplode(relacl)
WHERE grantee > 0 ORDER BY place, text`

/**
 * Moves the tables of a service that does not run into the schema `mfa`, in one transaction, and returns its statements. A dry run only
 * returns them.
 */
export function moveTables({ store, name }: Actor, { dryRun = false } = {}): Promise<string[]> {
  const { schema } = store
  if (store.name === 'pglite' || schema === SCHEMA) {
    throw new OperatorError(`The tables are in the schema ${schema} already.`)
  }
  return store.background.transaction(async (tx) => {
    const sessions = await tx.query(
      'SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid()',
      [APPLICATION_NAME],
    )
    if (sessions.length > 0) {
      throw new OperatorError(
        'The service is connected to the database: stop its processes, and RECONNECT in PgBouncer.',
      )
    }
    const statements = await tx.query<{ text: string }>(MOVES, [schema, SCHEMA, ALL_TABLES])
    if (!dryRun) {
      await writeAudit(tx, name, { action: 'store.moved', detail: `from schema ${schema} to ${SCHEMA}` })
      for (const { text } of statements) await tx.query(text)
    }
    return statements.map(({ text }) => text)
  })
}
