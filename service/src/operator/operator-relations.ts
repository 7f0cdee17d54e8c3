import type { Queries } from '../store/store.js'
import type { Actor } from './audited-change.js'
import { canonicalEmail } from './operator-account.js'

/**
 * The holders who count as one person with those of `start`, a query of holders, as the first part of a statement: everyone whom
 * invitations, links and roles connect with them, in either direction and through any number of others.
 */
export function withGroupOf(start: string): string {
  return `WITH RECURSIVE person (holder) AS (
    ${start} UNION SELECT related FROM operator_relation JOIN person USING (holder))`
}

/**
 * Records that an operator got a link or a role from the operator who acts, or who asked for it. A name at the command line that is
 * no account relates to nobody.
 */
export async function relateTo(tx: Queries, actor: Actor, email: string): Promise<void> {
  await tx.query(
    `INSERT INTO operator_relation (holder, related)
     SELECT one.holder, other.holder FROM operator_account AS one, operator_account AS other
     WHERE (one.email, other.email) IN (($1, $2), ($2, $1)) AND one.holder <> other.holder
     ORDER BY one.holder ON CONFLICT DO NOTHING`,
    [actor.asker ?? canonicalEmail(actor.name), email],
  )
}

/** The number of the group of each of these holders, who count as one person with all others of the group. */
export async function groupsOf(
  queries: Queries,
  holders: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const related = new Map<string, string[]>(holders.map((holder) => [holder, []]))
  const rows = await queries.query<{ holder: string; related: string }>(
    'SELECT holder, related FROM operator_relation',
  )
  for (const row of rows) related.set(row.holder, [...(related.get(row.holder) ?? []), row.related])
  const groups = new Map<string, number>()
  for (const [index, first] of holders.entries()) {
    const found = [first]
    for (let holder = found.pop(); holder !== undefined; holder = found.pop()) {
      if (groups.has(holder)) continue
      groups.set(holder, index)
      found.push(...(related.get(holder) ?? []))
    }
  }
  return groups
}

/**
 * Whether there are two administrators who are not one person, so that changes to operators need both. An administrator who was
 * disabled counts: otherwise one administrator could disable the other and go on alone. Only who never followed the first link does
 * not count.
 */
export async function hasSecondAdmin({ store }: Pick<Actor, 'store'>): Promise<boolean> {
  // An account begins with version 0, and its first password raises it.
  const admins = "FROM operator_account WHERE role = 'admin' AND version > 0"
  const others = await store.query(
    `${withGroupOf(`(SELECT holder ${admins} ORDER BY holder LIMIT 1)`)}
     SELECT ${admins} AND holder NOT IN (SELECT holder FROM person) LIMIT 1`,
  )
  return others.length > 0
}

/** Deletes what an operator asked for and nobody approved, because the account may have another holder now. */
export async function withdrawRequestsOf(tx: Queries, email: string): Promise<void> {
  await tx.query('DELETE FROM approval_request WHERE asked_by = $1', [email])
}
