import { exec } from 'node:child_process'
import { parseArgs, promisify } from 'node:util'
import { ServiceError } from '../errors.js'
import { readServiceAddress } from '../options/settings.js'
import type { CommandIo } from './command-io.js'
import { CHECKS, runCheck, type TestMailbox } from './contract/checks.js'
import { type FoundDialect, findDialect } from './contract/find-dialect.js'
import { print } from './print.js'

const HELP = `Usage: countersign contract --base-url https://mfa.example.com [options]

Checks an MFA service that has the published API, and prints its dialect. The API key is read from MFA_API_KEY. The users are
made up and have authenticator apps only; without --email, nothing is sent.

  --base-url <address>      Where the API is. Defaults to MFA_BASE_URL.
  --enroll-path <path>      Where an authenticator app is set up, if the command does not find it.
  --email <address>         A mailbox of yours, to which a code and backup codes are sent.
  --code-command <command>  Prints the newest message to that mailbox, whose address is in MFA_TO.
  --json                    Prints the report as JSON.

Exit code: 0 without a defect, 1 with one, 2 if the command cannot tell.`

const OPTIONS = {
  'base-url': { type: 'string' },
  'enroll-path': { type: 'string' },
  email: { type: 'string' },
  'code-command': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const read = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS, strict: true })
type Values = ReturnType<typeof read>['values']

/** The finding of one check. `reason` is what is wrong, or why it cannot be told. */
interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'defect' | 'unknown'
  readonly reason?: string
}

interface Report {
  readonly dialect: FoundDialect
  readonly findings: readonly Finding[]
  readonly notGuaranteed: readonly string[]
}

/** The features that the published API has no means for. The rows are in docs/dialect.md. */
const NOT_GUARANTEED = [
  'a code that was sent for one sign-in opens any other sign-in of that contact',
  'messages are limited for each account, and not for each destination and client address',
  'an app that nobody confirmed may be accepted',
  'a delivered code typed as a backup code is accepted',
  'nothing tells who has an app, so your own record decides',
  'a refused API key looks like a wrong code, until a call that checks no code is refused too',
  'users cannot remove an app or backup codes, see backup codes on a page, or add keys',
]

/**
 * Runs `countersign contract` and returns its exit code.
 * @throws {Error} for an argument that cannot be used, and for a service that sets up no app.
 */
export async function runContract(args: readonly string[], io: CommandIo): Promise<number> {
  const { values } = read(args)
  if (values.help) {
    print(HELP, io)
    return 0
  }
  const report = await reportOn(values, io)
  io.out(values.json ? JSON.stringify(report, null, 2) : table(report))
  if (report.findings.some(({ verdict }) => verdict === 'defect')) return 1
  // Without a right code, nothing else was tried.
  return report.findings[0]?.verdict === 'ok' ? 0 : 2
}

async function reportOn(values: Values, { env }: CommandIo): Promise<Report> {
  const address = { baseUrl: values['base-url'] ?? env.MFA_BASE_URL, apiKey: env.MFA_API_KEY }
  const mailbox = createMailbox(values, env)
  const dialect = await findDialect(address, values['enroll-path'])
  const settings = readServiceAddress({ ...address, dialect })
  const findings: Finding[] = []
  // One after the other, so that no limit of requests at once decides.
  for (const [check, run] of Object.entries(CHECKS)) {
    findings.push({ check, ...(await describeOutcome(() => runCheck(run, settings, mailbox))) })
  }
  return { dialect, findings, notGuaranteed: dialect === 'countersign' ? [] : NOT_GUARANTEED }
}

function createMailbox(
  { email, 'code-command': command }: Values,
  env: CommandIo['env'],
): TestMailbox | undefined {
  if (email === undefined && command === undefined) return undefined
  if (email === undefined || command === undefined) {
    throw new Error('Give --email and --code-command together: where a code goes, and how it is read.')
  }
  const options = { env: { ...env, MFA_TO: email }, timeout: 60_000 }
  const readNewest = async () => (await promisify(exec)(command, options)).stdout
  return { contact: { kind: 'email', email }, newest: readNewest }
}

async function describeOutcome(run: () => Promise<string | undefined>): Promise<Omit<Finding, 'check'>> {
  try {
    const reason = await run()
    return reason === undefined ? { verdict: 'ok' } : { verdict: 'defect', reason }
  } catch (error) {
    // An answer that the client cannot take is a fault of the service. No answer says nothing about it.
    const isAnswer = error instanceof ServiceError && error.code === 'ERR_MFA_SERVICE_ANSWER'
    const reason = error instanceof Error ? error.message : String(error)
    return { verdict: isAnswer ? 'defect' : 'unknown', reason }
  }
}

const WORDS = { ok: 'ok', defect: 'DEFECT', unknown: 'cannot tell' } as const

function table({ dialect, findings, notGuaranteed }: Report): string {
  const defects = findings.filter(({ verdict }) => verdict === 'defect').length
  return [
    `service.dialect: ${JSON.stringify(dialect)}`,
    ...findings.map(({ verdict, check, reason }) =>
      [WORDS[verdict].padEnd(12), check, reason && `: ${reason}`].join(''),
    ),
    ...(notGuaranteed.length > 0 ? ['This service cannot guarantee (see docs/dialect.md):'] : []),
    ...notGuaranteed.map((text) => `  ${text}`),
    defects === 0 ? 'No defect found.' : `Defects: ${defects} of ${findings.length} checks.`,
  ].join('\n')
}
