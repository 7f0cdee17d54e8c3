import { type Contact, canonicalUser } from 'countersign/protocol'
import { addKeyId, contactHashes, contactReference, type Keys, listKeys } from '../store/secrets/keys.js'
import { createStatement, lookUpSql, type Queries } from '../store/store.js'

/** An account that was found. */
export interface FoundAccount {
  readonly application: string
  /** As rows name it. */
  readonly account: string
}

type Parameters = Readonly<
  Record<'names' | 'references' | 'emailHashes' | 'phoneHashes' | 'recipients', readonly string[]>
> & { readonly isDual: boolean; readonly limit: number }

// Each part finds its rows by an index. The data of test keys stands beside the application's.
const FIND = createStatement<Parameters>(`WITH by_email AS MATERIALIZED (
    SELECT application, account FROM account WHERE email_hash = ANY (:emailHashes::text[])
  ), by_phone AS MATERIALIZED (
    SELECT application, account FROM account WHERE phone_hash = ANY (:phoneHashes::text[])
  ), wanted AS MATERIALIZED (
    SELECT application.application || mode.suffix AS application, name AS account
      FROM application, (VALUES (''), ('/test')) AS mode (suffix), unnest(:names::text[]) AS name
    UNION SELECT * FROM by_email WHERE NOT :isDual::boolean OR (application, account) IN (SELECT * FROM by_phone)
    UNION SELECT * FROM by_phone WHERE NOT :isDual::boolean
    UNION SELECT application, account FROM account WHERE reference = ANY (:references::text[])
    UNION SELECT application, account FROM outbox WHERE recipient = ANY (:recipients::text[])
  )
  SELECT known.application, known.account FROM wanted, LATERAL (
    SELECT application, account FROM account
    WHERE ${lookUpSql('account.application', 'wanted.application')} AND ${lookUpSql('account.account', 'wanted.account')}
  ) AS known ORDER BY application, account LIMIT :limit::integer`)

// Of each beginning, the names with at most `more` further characters, in the order of bytes that `account_by_beginning` has.
const FIND_BY_BEGINNING = `SELECT known.application, known.account FROM unnest($1::text[], $2::integer[]) AS wanted (beginning, more),
    LATERAL (SELECT application, account FROM account
      WHERE account ~>=~ wanted.beginning AND account ~<~ (wanted.beginning || chr(1114111))
        AND length(account) <= length(wanted.beginning) + wanted.more LIMIT $3) AS known
  ORDER BY application, account LIMIT $3`

const HIDDEN_DIGITS = 2
const ANY = 1_000

/**
 * The accounts of all applications whose name begins like this, at most `limit`. Of a name that is a contact, only the domain or the last
 * two digits may be missing, so that a masked contact cannot be found out letter by letter (R46).
 */
export function findAccountsByBeginning(
  queries: Queries,
  text: string,
  limit: number,
): Promise<FoundAccount[]> {
  const [, mailbox] = /^([^@:+]+)@?$/.exec(text.toLowerCase()) ?? []
  const names = [`account:${text}`, ...(mailbox === undefined ? [] : [`contact:${mailbox}@`])]
  const phones = /^\+\d{7,}$/.test(text) ? [`contact:${text}`] : []
  const more = [...names.map(() => ANY), ...phones.map(() => HIDDEN_DIGITS)]
  return queries.query<FoundAccount & Record<string, string>>(FIND_BY_BEGINNING, [
    [...names, ...phones],
    more,
    limit,
  ])
}

/** The facts known of an account. */
export interface Clues {
  /** The name that the application sends as `Account`. */
  readonly name: string
  /** A contact that the account is named after, has proven, or got a message at that is still stored. */
  readonly contact: Contact | undefined
  /** The text that stands for the account in the log. */
  readonly reference: string | undefined
}

/** The accounts of all applications to which one of the clues leads, at most `limit`. */
export function findAccounts(
  keys: Keys,
  queries: Queries,
  { name, contact, reference }: Clues,
  limit: number,
): Promise<FoundAccount[]> {
  const every = listKeys(keys)
  const hashes = contact ? every.map((key) => contactHashes(key, contact)) : []
  return FIND.rows(queries, {
    names: [`account:${name}`, ...(contact ? [`contact:${canonicalUser(contact)}`] : [])],
    references: reference === undefined ? [] : every.map((key) => addKeyId(key, reference)),
    emailHashes: hashes.flatMap(({ email }) => email ?? []),
    phoneHashes: hashes.flatMap(({ phone }) => phone ?? []),
    isDual: contact?.kind === 'dual',
    recipients: contact ? every.map((key) => contactReference(key, contact)) : [],
    limit,
  })
}
