import { parseAccount } from '../inputs.js'
import type { Encoding, ImportRow, ImportSource, Refusal, SourceRow } from './import-row.js'
import { readSecret, type SecretDefaults } from './read-secret.js'
import { type AccountFields, rowsOf, SOURCES } from './sources.js'

/** What is imported, and how it is read. */
export interface ImportFile extends Omit<SecretDefaults, 'encoding'> {
  readonly from: ImportSource
  /** The content of the file: CSV with a heading, a JSON array, or JSON objects in lines of their own. */
  readonly text: string
  /** Imports secrets of 80 to 127 bits too. Defaults to `false`: they are refused. */
  readonly allowWeak?: boolean | undefined
  /** The field with what the application sends as `Account`. Defaults to the id in the export of the system, otherwise `account`. */
  readonly accountField?: string | undefined
  /** The field with the contact of the account, for applications that send no `Account`. */
  readonly userField?: string | undefined
  /** How secrets are written. Defaults to what the system does. */
  readonly encoding?: Encoding | undefined
  /** The secrets of the system, if it encrypts its own: current and former ones. Defaults to none. */
  readonly secrets?: readonly string[] | undefined
}

/** A row that is refused or has no app. */
interface OtherRow {
  readonly line: number
  readonly refusal: Refusal | 'absent'
}

/** Reads a file row by row. No row says what was in its secret. */
export function* readRows(file: ImportFile): Generator<ImportRow | OtherRow> {
  const fields = { account: file.accountField, user: file.userField } satisfies AccountFields
  for (const row of rowsOf(file.from, file.text, fields, file.secrets ?? [])) yield checked(row, file)
}

function checked({ line, found }: SourceRow, file: ImportFile): ImportRow | OtherRow {
  if (typeof found === 'string') return { line, refusal: found }
  const account = accountIn(found)
  if (account === undefined) return { line, refusal: 'account' }
  const defaults = { ...file, encoding: file.encoding ?? SOURCES[file.from].encoding }
  const secret = readSecret(found, defaults, file.allowWeak === true)
  return typeof secret === 'string'
    ? { line, refusal: secret }
    : { line, account, secret, codes: found.codes }
}

function accountIn({ account, user }: { readonly account: unknown; readonly user?: unknown }) {
  const isNamed = account !== undefined && account !== null && account !== ''
  // Tables often have numbers as ids.
  const name = typeof account === 'number' ? String(account) : account
  const parsed = parseAccount(isNamed ? { Account: name } : { User: user })
  return parsed.ok ? parsed.value : undefined
}
