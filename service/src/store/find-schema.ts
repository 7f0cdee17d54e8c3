import { ConfigurationError } from '../process/configuration-error.js'
import { postgresStore } from './postgres-store.js'
import { SCHEMA } from './privileges.js'
import type { PostgresLimits } from './store.js'

/** Tables that together are the service's: an app may have some of these names, too. */
const MARKS = ['migration', 'operator_account', 'sealing_key']

/** The schema of the tables in a database: where the search path led when they were made, else `mfa`. */
export async function findSchema(databaseUrl: string, limits?: Partial<PostgresLimits>): Promise<string> {
  return (await findUsedSchema(databaseUrl, limits)) ?? SCHEMA
}

/** Whether a PostgreSQL database has the tables of a service. Throws an error when it cannot tell. */
export async function isServiceDatabase(databaseUrl: string): Promise<boolean> {
  return (await findUsedSchema(databaseUrl)) !== undefined
}

async function findUsedSchema(databaseUrl: string, limits?: Partial<PostgresLimits>) {
  const store = postgresStore(databaseUrl, limits)
  // The catalog also shows tables that the role may not use: they must not look like a new database.
  const found = store.query<{ name: string; place: number | null; ours: boolean }>(
    `SELECT nspname AS name, array_position(current_schemas(false), nspname) AS place, marks = $2::integer AS ours FROM (
       SELECT nspname, count(*) AS tables, count(*) FILTER (WHERE relname = ANY ($1::text[])) AS marks
       FROM pg_class JOIN pg_namespace AS space ON relnamespace = space.oid WHERE relkind IN ('r', 'p') GROUP BY nspname) AS space
     WHERE marks = $2::integer OR nspname = $3 AND tables > marks ORDER BY place`,
    [MARKS, MARKS.length, SCHEMA],
  )
  const schemas = await found.finally(() => store.close())
  const ours = schemas.filter((schema) => schema.ours)
  const [first, ...others] = ours.filter(({ name, place }) => name === SCHEMA || place !== null)
  if (first && (others.length === 0 || ours.every(({ name }) => name !== SCHEMA))) return first.name
  if (schemas.length === 0) return undefined
  const names = schemas.map(({ name }) => name).join(' and ')
  throw new ConfigurationError([
    ours.length === 0
      ? `The schema ${names} of the database has tables of another program: rename it, or give the service another database.`
      : `The database has tables of the service in ${names}, and its role does not say which to use: give the role USAGE on the schema ` +
        'and set its search_path, or rename the schemas that are not in use.',
  ])
}
