import { parseAccount } from '../inputs.js'
import { isNumeric } from './exact-json.js'
import type { Candidate, Encoding, ImportRow, ImportSource, Refusal, SourceRow } from './import-row.js'
import { readSecret, type SecretDefaults } from './read-secret.js'
import { type NamedFields, readRowsOf, SOURCES } from './sources.js'

/** The rows to import, and how they are read. */
export interface ImportFile extends Omit<SecretDefaults, 'encoding'> {
  readonly from: ImportSource
  /** The content of the file: CSV with a heading, a JSON array, or JSON objects in lines of their own, in UTF-8 or UTF-16. */
  readonly text: string | Uint8Array
  /** Imports secrets of 80 to 127 bits too. Defaults to `false`: they are refused. */
  readonly allowWeak?: boolean | undefined
  /** The field with what the application sends as `Account`. Defaults to the id in the export of the system, otherwise `account`. */
  readonly accountField?: string | undefined
  /** The field with the contact of the account, for applications that send no `Account`. */
  readonly userField?: string | undefined
  /** The field that says whether the user ever typed a code of the app, or `none`. Defaults to that of the system. */
  readonly confirmedField?: string | undefined
  /** How secrets are written. Defaults to what the system does. */
  readonly encoding?: Encoding | undefined
  /** The secrets of the system, if it encrypts its own: current and former ones. Defaults to none. */
  readonly secrets?: readonly string[] | undefined
}

interface OtherRow {
  readonly line: number
  readonly refusal: Refusal | 'absent'
}

/** Reads a file row by row. No row says what was in its secret. */
export function* readRows(file: ImportFile): Generator<ImportRow | OtherRow> {
  const { accountField: account, userField: user, confirmedField: confirmed } = file
  const fields = { account, user, confirmed } satisfies NamedFields
  for (const row of readRowsOf(file.from, file.text, fields, file.secrets ?? [])) yield checkRow(row, file)
}

function checkRow({ line, found }: SourceRow, file: ImportFile): ImportRow | OtherRow {
  if (typeof found === 'string') return { line, refusal: found }
  const named = readAccount(found)
  if (typeof named === 'string') return { line, refusal: named }
  const defaults = { ...file, encoding: file.encoding ?? SOURCES[file.from].encoding }
  const secret = readSecret(found, defaults, file.allowWeak === true)
  if (typeof secret === 'string') return { line, refusal: secret }
  return { line, ...named, secret, codes: found.codes, furtherApps: found.furtherApps ?? 0 }
}

const WHOLE = /^(?:0|-?[1-9]\d*)$/
/** As spreadsheets write long ids, and programs whole numbers in a column with gaps. */
const ROUNDED = /^[+-]?\d+(?:[.,]\d+)?e[+-]\d+$|^[+-]?\d+[.,]0+$/i
/** As ids look after a program took them for numbers, or a user typed them: not wrong, but perhaps another account. */
const ODD =
  /^(?:0\d+|0x[\da-f]+|\+[\d ]+|['"`=].*|\d+e\d+|\d{1,3}(?:[.,]\d{3})+|-0|\d{15}0+)$|\p{Cf}|(?!\d)\p{Nd}/iu

/** The account that a row names, exactly as it is written but for spaces around it (R154). */
function readAccount({ account, user }: Candidate): Pick<ImportRow, 'account' | 'isOddlyWritten'> | Refusal {
  const isNamed = account !== undefined && account !== null && account !== ''
  const given = isNamed ? account : user
  const isNumber = isNumeric(given)
  if (!isNumber && typeof given !== 'string') return 'account'
  const text = String(given).replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, '')
  if (isNumber ? !WHOLE.test(text) : ROUNDED.test(text)) return 'account_number'
  const parsed = parseAccount(isNamed ? { Account: text } : { User: text })
  const isOddlyWritten = isNamed && (ODD.test(text) || text.normalize('NFKC') !== text)
  return parsed.ok ? { account: parsed.value, isOddlyWritten } : 'account'
}
