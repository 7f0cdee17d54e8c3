import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { ENCODINGS, type Encoding, IMPORT_SOURCES, type ImportSource } from '../flows/import/import-row.js'
import { OperatorError } from '../operator/audited-change.js'
import { hasImported, type ImportReport } from '../operator/import-factors.js'
import { createCommands } from './commands-of.js'
import { formatTable, type Io, pairs } from './output.js'

interface ImportOptions {
  readonly from: ImportSource
  readonly dryRun?: boolean
  readonly allowWeak?: boolean
  readonly test?: boolean
  readonly accountField?: string
  readonly userField?: string
  readonly confirmedField?: string
  readonly encoding?: Encoding
  readonly algorithm?: string
  readonly digits?: string
  readonly period?: string
  readonly secretEnv?: readonly string[]
}

/** `import`. */
export function importCommand(program: Command, io: Io): void {
  createCommands(program, io)
    .change(
      'import <application>',
      'add authenticator apps and backup codes of another system; a second run adds only what is missing',
      async (operator, application: string, file: string, options: ImportOptions) => {
        const { digits, period, secretEnv = [], dryRun = false } = options
        const report = await operator.importFactors({
          ...options,
          application,
          text: await readContent(file),
          mode: options.test ? 'test' : 'live',
          digits: digits === undefined ? undefined : Number(digits),
          period: period === undefined ? undefined : Number(period),
          secrets: secretEnv.map((name) => readSecret(io, name)),
        })
        const { length: weak } = report.weak
        return {
          result: report,
          text: describe(report),
          remarks: [
            dryRun && 'Nothing was changed: this was a dry run.',
            weak > 0 && `${weak} secrets have fewer than 128 bits: ask these users to set up a new app.`,
          ],
          failure: !hasImported(report) && 'Nothing was imported. The report says why, row by row.',
        }
      },
    )
    .argument('<file>', 'CSV with a heading, a JSON array, or JSON lines; see docs/moving.md')
    .addOption(
      new Option('--from <system>', 'the system that the file comes from')
        .choices(IMPORT_SOURCES)
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'report what would be imported, and change nothing')
    .option('--allow-weak', 'import secrets of 80 to 127 bits too')
    .option('--account-field <name>', 'the field with what the application sends as Account')
    .option('--user-field <name>', 'the field with the contact, if the application sends no Account')
    .option('--confirmed-field <name>', 'the field that says that the user typed a code of the app, or none')
    .addOption(new Option('--encoding <name>', 'how secrets are written').choices(ENCODINGS))
    .addOption(
      new Option('--algorithm <name>', 'of rows that name none').choices(['SHA1', 'SHA256', 'SHA512']),
    )
    .addOption(new Option('--digits <n>', 'of rows that name none').choices(['6', '8']))
    .addOption(new Option('--period <seconds>', 'of rows that name none').choices(['30', '60']))
    .option('--secret-env <name...>', 'environment variables with the secrets that the system encrypts with')
    .option('--test', 'import for test keys')
}

async function readContent(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new OperatorError(`The file ${file} cannot be read: ${why}.`)
  }
}

/** A secret in an argument would be visible to everyone on the machine. */
function readSecret(io: Io, name: string): string {
  const secret = io.env[name]
  if (secret) return secret
  throw new OperatorError(`The environment variable ${name}, which --secret-env names, is not set.`)
}

function describe({ refused, remarks, ...report }: ImportReport): string {
  const facts = pairs([
    ['imported', report.imported],
    ['unchanged', report.unchanged],
    ['refused', refused.length],
    ['without an app', report.absent],
    ['further apps, left out', report.furtherApps],
    ['with backup codes', report.backupCodes],
    ['weak, in lines', report.weak.join(', ') || 'none'],
  ])
  const rows = [...refused, ...remarks]
  return rows.length === 0 ? facts : `${facts}\n\n${formatTable(rows, 'line', 'code', 'reason')}`
}
