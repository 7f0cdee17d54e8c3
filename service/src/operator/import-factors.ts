import { canonicalBackupCode } from 'countersign/protocol'
import { computeMac } from '../accounts/backup-set.js'
import {
  type FactorsBefore,
  findFactorsBefore,
  holdAccounts,
  importFactors,
  type NewFactors,
} from '../accounts/import-factors.js'
import { type ImportRow, REFUSALS, type Refusal } from '../flows/import/import-row.js'
import { type ImportFile, readRows } from '../flows/import/read-rows.js'
import { getPartition, type Mode, type Partition } from '../store/partition.js'
import { hashForm, newBackupSalt } from '../store/secrets/codes.js'
import type { Keys } from '../store/secrets/keys.js'
import { appSecretIdentity, open, seal } from '../store/secrets/seal.js'
import type { Queries } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, changeWithAudit } from './audited-change.js'

/** The rows to import, and into which application. */
export interface FactorImport extends ImportFile {
  /** The name of the application. */
  readonly application: string
  /** `test` imports for test keys. Defaults to `live`. */
  readonly mode?: Mode | undefined
  /** Reports what an import would do, and changes nothing. Defaults to `false`. */
  readonly dryRun?: boolean | undefined
}

/** A line of the file, or a position in a JSON array, and what is to be said about it. */
interface ImportRemark {
  readonly line: number
  /** For programs. */
  readonly code: Refusal | keyof typeof REMARKS
  /** The event, and the remedy. */
  readonly reason: string
}

/** The changes that an import made, or would make. They name no account and no secret. */
export interface ImportReport {
  /** Rows whose authenticator app was added. */
  readonly imported: number
  /** Rows whose authenticator app the account has already. */
  readonly unchanged: number
  /** Users of the file without an authenticator app. */
  readonly absent: number
  /** Further apps of users whose first one is imported, or was there. */
  readonly furtherApps: number
  /** Accounts that got backup codes. */
  readonly backupCodes: number
  /** Rows that were not imported. */
  readonly refused: readonly ImportRemark[]
  /** The values left out of rows whose app was imported, or looks odd in them; and, where no row has an app to import, why each has none. */
  readonly remarks: readonly ImportRemark[]
  /** Lines with secrets of fewer than 128 bits that were imported, or were there. Their users should set up a new app. */
  readonly weak: readonly number[]
}

/** Whether an import found something to add, or that it was added before. */
export function hasImported({ imported, unchanged }: ImportReport): boolean {
  return imported + unchanged > 0
}

type Written = {
  -readonly [Name in keyof ImportReport]: ImportReport[Name] extends readonly (infer Item)[]
    ? Item[]
    : ImportReport[Name]
}

const REMARKS = {
  absent:
    'The row has no authenticator app where this system keeps it. Check --from, and the heading of a CSV file: docs/moving.md names the fields.',
  codes_unverifiable:
    'The backup codes are kept in a form that cannot be verified, and were not imported: let the user request new ones.',
  codes_kept: 'The account has backup codes already, which stay valid instead of these.',
  further_app: 'The user has further apps, which were not imported: an account has one, here the first.',
  account_spelling:
    'The account is written as programs change ids (01, 1,001, 1e3, zeros at the end): check that the application sends exactly this.',
} as const

/** Each batch is a transaction: what an interrupted import has added stays, and the next run finds it unchanged. */
const BATCH = 500

/** Imports factors of another system into an application. */
export async function importFactorsOf(actor: Actor, given: FactorImport): Promise<ImportReport> {
  await mustExist(actor.store, given.application)
  const partition = { id: getPartition({ application: given.application, mode: given.mode ?? 'live' }) }
  const report = emptyReport()
  const absent: number[] = []
  let batch: ImportRow[] = []
  const flush = async () => {
    const rows = batch
    batch = []
    if (rows.length > 0) await importBatch(actor, given, partition, rows, report)
  }
  for (const row of readRows(given)) {
    if ('secret' in row) batch.push(row)
    else if (row.refusal === 'absent') absent.push(row.line)
    else report.refused.push(remarkRefused(row.line, row.refusal))
    // A dry run must see that an account comes twice, however far apart.
    if (batch.length >= BATCH && !given.dryRun) await flush()
  }
  await flush()
  report.absent = absent.length
  if (!hasImported(report)) {
    report.remarks.push(...absent.map((line) => remark(line, 'absent')))
  }
  report.refused.sort((one, other) => one.line - other.line)
  return report
}

async function importBatch(
  actor: Actor,
  { application, from, dryRun }: FactorImport,
  partition: Partition,
  rows: readonly ImportRow[],
  report: Written,
): Promise<void> {
  const keys = actor.keys()
  const accounts = [...new Set(rows.map(({ account }) => account))]
  const plan = async (queries: Queries) =>
    planBatch(keys, partition, rows, await findFactorsBefore(queries, partition, accounts))
  const planned = dryRun
    ? await plan(actor.store)
    : await changeWithAudit(actor, async (tx, record) => {
        await holdAccounts(keys, tx, partition, accounts)
        const made = await plan(tx)
        const { imported, backupCodes } = made.report
        const detail = `from ${from}: apps=${imported} backup-codes=${backupCodes}`
        const isChange = made.factors.length > 0
        if (isChange) await importFactors(tx, partition, made.factors, Date.now())
        record(isChange ? { application, action: 'factors.imported', detail } : undefined)
        return made
      })
  const { imported, unchanged, furtherApps, backupCodes, refused, remarks, weak } = planned.report
  report.imported += imported
  report.unchanged += unchanged
  report.furtherApps += furtherApps
  report.backupCodes += backupCodes
  report.refused.push(...refused)
  report.remarks.push(...remarks)
  report.weak.push(...weak)
}

/** The rows that a batch adds, and what is said about its rows. A transaction may run again, so nothing outside is changed. */
function planBatch(
  keys: Keys,
  partition: Partition,
  rows: readonly ImportRow[],
  before: readonly FactorsBefore[],
): { readonly factors: readonly NewFactors[]; readonly report: Written } {
  const report = emptyReport()
  const has = new Map(
    before.map(({ account, sealed }) => [
      account,
      sealed === null ? undefined : open(keys, appSecretIdentity(partition.id, account), sealed),
    ]),
  )
  const hasCodes = new Set(before.filter(({ codes }) => codes).map(({ account }) => account))
  const factors: NewFactors[] = []
  for (const { line, account, secret, codes, furtherApps, isOddlyWritten } of rows) {
    const found = has.get(account)
    if (found !== undefined && found !== secret.text) {
      report.refused.push(remarkRefused(line, 'other_app'))
      continue
    }
    const isNew = found === undefined
    has.set(account, secret.text)
    if (isNew) report.imported++
    else report.unchanged++
    if (secret.weak) report.weak.push(line)
    report.furtherApps += furtherApps
    if (isOddlyWritten) report.remarks.push(remark(line, 'account_spelling'))
    if (furtherApps > 0) report.remarks.push(remark(line, 'further_app'))
    if (codes === 'unverifiable') report.remarks.push(remark(line, 'codes_unverifiable'))
    const isBacked = typeof codes === 'object' && !hasCodes.has(account)
    if (isNew && typeof codes === 'object' && !isBacked) report.remarks.push(remark(line, 'codes_kept'))
    const set = isBacked ? setOf(keys, partition, account, codes) : { salt: null, macs: [] }
    if (isBacked) {
      report.backupCodes++
      hasCodes.add(account)
    }
    const sealed = isNew ? seal(keys, appSecretIdentity(partition.id, account), secret.text) : null
    if (isNew || isBacked) factors.push({ account, sealed, weak: secret.weak, digits: secret.digits, ...set })
  }
  return { factors, report }
}

function emptyReport(): Written {
  const counts = { imported: 0, unchanged: 0, absent: 0, furtherApps: 0, backupCodes: 0 }
  return { ...counts, refused: [], remarks: [], weak: [] }
}

function setOf(
  keys: Keys,
  partition: Partition,
  account: string,
  { plain, sha512 }: Exclude<ImportRow['codes'], 'unverifiable' | undefined>,
): Pick<NewFactors, 'salt' | 'macs'> {
  const salt = newBackupSalt()
  const forms = [...plain.map(canonicalBackupCode), ...sha512.map(hashForm)]
  return { salt, macs: forms.map((form) => computeMac(keys, partition, account, salt, form)) }
}

function remarkRefused(line: number, code: Refusal): ImportRemark {
  return { line, code, reason: REFUSALS[code] }
}

function remark(line: number, code: keyof typeof REMARKS): ImportRemark {
  return { line, code, reason: REMARKS[code] }
}
