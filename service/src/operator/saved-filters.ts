import { queryOne } from '../store/store.js'
import { type Actor, OperatorError } from './audited-change.js'

/** A filter of a list that an operator saved. */
export interface SavedFilter {
  /** What the operator calls it. */
  readonly name: string
  /** The path of the page in the console. */
  readonly path: string
  /** The query of the page, without a question mark. It names no contact. */
  readonly query: string
}

const MAX_FILTERS = 20
const MAX_NAME_LENGTH = 60
const MAX_QUERY_LENGTH = 500
/** The pages that have filters. */
const PATH = /^\/console\/(?:audit|applications\/[a-z0-9-]{1,40}\/messages)$/

/** The filters that the operator saved, by name. */
export async function listFilters({ store, name }: Actor): Promise<readonly SavedFilter[]> {
  const row = await queryOne<{ filters: readonly SavedFilter[] }>(
    store,
    'SELECT filters FROM operator_account WHERE email = $1',
    [name],
  )
  return row?.filters ?? []
}

/** Saves a filter for the operator, in place of the one with the same name. */
export async function saveFilter({ store, name: email }: Actor, filter: SavedFilter): Promise<void> {
  const { name, path, query } = filter
  if (name === '' || name.length > MAX_NAME_LENGTH) {
    throw new OperatorError(`Give the filter a name of at most ${MAX_NAME_LENGTH} characters.`)
  }
  if (!PATH.test(path) || query === '' || query.length > MAX_QUERY_LENGTH) {
    throw new OperatorError('This filter cannot be saved: choose something to filter by.')
  }
  await change(store, email, (filters) => {
    const others = filters.filter((other) => other.name !== name)
    if (others.length >= MAX_FILTERS) {
      throw new OperatorError(`You have ${MAX_FILTERS} filters already: remove one first.`)
    }
    return [...others, { name, path, query }].sort((a, b) => (a.name < b.name ? -1 : 1))
  })
}

/** Removes a filter of the operator. */
export async function removeFilter({ store, name: email }: Actor, name: string): Promise<void> {
  await change(store, email, (filters) => filters.filter((other) => other.name !== name))
}

async function change(
  store: Actor['store'],
  email: string,
  changed: (filters: readonly SavedFilter[]) => readonly SavedFilter[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const row = await queryOne<{ filters: readonly SavedFilter[] }>(
      tx,
      'SELECT filters FROM operator_account WHERE email = $1 FOR UPDATE',
      [email],
    )
    if (!row) throw new OperatorError('Only operators of the console save filters.')
    await tx.query('UPDATE operator_account SET filters = $2::jsonb WHERE email = $1', [
      email,
      JSON.stringify(changed(row.filters)),
    ])
  })
}
