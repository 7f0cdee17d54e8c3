import type { Queries } from '../store/store.js'
import { type Actor, changeWithAudit, OperatorError } from './audited-change.js'
import { canonicalEmail } from './operator-account.js'

/**
 * Says why two operators, by email address, count as one person and what to do about it (R137); `undefined` if they are two. They are one
 * if they are related: if links, roles, a shared email address or an administrator connect them, directly or through others. They also
 * are where nothing says that a local and a company account, or those that made them, belong to two persons.
 */
export type WhyOnePerson = (
  one: string,
  other: string,
) => { readonly isRelated: boolean; readonly text: string } | undefined

/** Reads who counts as one person. A transaction that reads the roles before it finds with a new role also the relation that it made. */
export async function readPersons(queries: Queries): Promise<WhyOnePerson> {
  const accounts = await queries.query<{ email: string; holder: string; is_external: boolean }>(
    'SELECT email, holder, issuer IS NOT NULL AS is_external FROM operator_account',
  )
  const relations = await queries.query<{ holder: string; related: string; kind: string }>(
    'SELECT holder, related, kind FROM operator_relation',
  )
  const listRelated = (...kinds: string[]) => {
    const found = new Map<string, Set<string>>()
    for (const { holder, related, kind } of relations) {
      if (kinds.includes(kind)) found.set(holder, (found.get(holder) ?? new Set()).add(related))
    }
    return found
  }
  const related = computeClosure(listRelated('made', 'made-by', 'same'))
  const [makers, same] = [computeClosure(listRelated('made-by')), computeClosure(listRelated('same'))]
  const apart = listRelated('apart')
  const holders = new Map(accounts.map(({ email, holder }) => [email, holder]))
  // A holder without an account was local: accounts of the identity provider stay.
  const external = new Set(accounts.filter((account) => account.is_external).map(({ holder }) => holder))
  // No human has two company accounts, or two local ones that nothing relates.
  const mayBeOne = (one: string, other: string) =>
    !pairs(same(one), same(other)).some(
      ([its, theirs]) => external.has(its) === external.has(theirs) || apart.get(its)?.has(theirs),
    )
  return (first, second) => {
    const [one = '', other = ''] = [holders.get(first), holders.get(second)]
    const isRelated = related(one).has(other)
    if (isRelated) return { isRelated, text: `${first} and ${second} ${RELATED}` }
    if (apart.get(one)?.has(other)) return undefined
    const made = pairs(makers(one), makers(other))
    const isUnclear = made.some((pair) => mayBeOne(...pair))
    return isUnclear
      ? { isRelated, text: `${first} and ${second} ${UNCLEAR} "${first}" "${second}"` }
      : undefined
  }
}

const RELATED =
  'count as one person: one of them invited, reset or promoted the other, directly or through others, they have the same email ' +
  'address, or an administrator said so. Only operator reset --independent makes a local account another person.'
const UNCLEAR =
  'may be one person with a local and a company account. If they are two persons, run at the command line of the server: ' +
  'countersign-service operator two-persons'

function pairs(some: ReadonlySet<string>, others: ReadonlySet<string>) {
  return [...some].flatMap((first) => [...others].map((other) => [first, other] as const))
}

/** Finds whom a holder reaches, once for each holder. */
function computeClosure(edges: ReadonlyMap<string, ReadonlySet<string>>) {
  const known = new Map<string, Set<string>>()
  return (start: string): Set<string> => {
    const found = known.get(start) ?? new Set([start])
    // A set also yields what is added meanwhile.
    if (!known.has(start))
      for (const holder of found) for (const next of edges.get(holder) ?? []) found.add(next)
    known.set(start, found)
    return found
  }
}

/** Records that the acting or asking operator gave another a link or a role. A name at the command line that is no account relates to nobody. */
export async function relateTo(tx: Queries, actor: Actor, email: string): Promise<void> {
  await relate(tx, [actor.asker ?? canonicalEmail(actor.name), email], ['made', 'made-by'])
}

/** Stores what the first operator is to the second one, and the second to the first. */
async function relate(tx: Queries, emails: readonly [string, string], kinds: readonly [string, string]) {
  await tx.query(
    `INSERT INTO operator_relation (holder, related, kind)
     SELECT one.holder, other.holder, CASE one.email WHEN $1 THEN $3 ELSE $4 END
     FROM operator_account AS one, operator_account AS other
     WHERE (one.email, other.email) IN (($1, $2), ($2, $1)) AND one.holder <> other.holder
     ORDER BY one.holder ON CONFLICT DO NOTHING`,
    [...emails, ...kinds],
  )
}

/** Records that the accounts with the verified email address of this one belong to one person. */
export async function relateSameEmail(tx: Queries, email: string): Promise<void> {
  await tx.query(
    `INSERT INTO operator_relation (holder, related, kind)
     SELECT one.holder, other.holder, 'same' FROM operator_account AS one, operator_account AS other
     WHERE $1 IN (one.email, other.email) AND one.holder <> other.holder
       AND coalesce(one.verified_email, one.email) = coalesce(other.verified_email, other.email)
     ORDER BY one.holder, other.holder ON CONFLICT DO NOTHING`,
    [email],
  )
}

/** Says whether two accounts belong to one person or to two. Throws an `OperatorError` for two persons who are related. */
export async function tellPersons(
  actor: Actor,
  one: string,
  other: string,
  are: 'one' | 'two',
): Promise<void> {
  const kind = are === 'one' ? 'same' : 'apart'
  const emails = [canonicalEmail(one), canonicalEmail(other)] as const
  await changeWithAudit(actor, async (tx, record) => {
    const known = await tx.query('SELECT FROM operator_account WHERE email IN ($1, $2)', emails)
    if (known.length < 2) throw new OperatorError('Name two operators, as operator list shows them.')
    await relate(tx, emails, [kind, kind])
    const why = are === 'two' && (await readPersons(tx))(...emails)
    if (why) throw new OperatorError(why.text)
    const action = are === 'one' ? 'operator.one_person' : 'operator.two_persons'
    record({ action, detail: emails.join(' ') })
  })
}

/**
 * Whether there are two administrators who are not one person, so that changes to operators need both. An administrator who was
 * disabled counts: otherwise one administrator could disable the other and go on alone. Only who never followed the first link does
 * not count.
 */
export async function hasSecondAdmin({ store }: Pick<Actor, 'store'>): Promise<boolean> {
  // A local account begins with version 0, and its first password raises it.
  const admins = await store.query<{ email: string }>(
    "SELECT email FROM operator_account WHERE role = 'admin' AND (version > 0 OR issuer IS NOT NULL)",
  )
  const whyOne = await readPersons(store)
  return admins.some(({ email }, at) => admins.slice(at + 1).some((other) => !whyOne(email, other.email)))
}

/** Deletes an operator's open requests, because the account may have another holder now. */
export async function withdrawRequestsOf(tx: Queries, email: string): Promise<void> {
  await tx.query('DELETE FROM approval_request WHERE asked_by = $1', [email])
}
