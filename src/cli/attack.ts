import { parseArgs } from 'node:util'
import { describeError } from '../probe/probe-login.js'
import { ATTACKS } from './attack/attacks.js'
import { ATTACK_OPTIONS, readTarget } from './attack/read-target.js'
import { type Relayed, relayFactors } from './attack/relay.js'
import { openScene, type Scene } from './attack/scene.js'
import { Untried, type Verdict } from './attack/verdict.js'
import type { CommandIo } from './command-io.js'
import { print } from './print.js'

const HELP = `Usage: countersign attack <address> --sign-in 'POST /login username=bob&password=$APP_PASSWORD' --protected /account [options]

Attacks the second factor of an app on this machine, signed in as a test user, and says of each promise whether it held. An app with
the plugin needs no --request and no --verify. The options of "countersign check" name the sign-in and the routes; these come beside them:

  --inbox <path>            Where the app, or a mail server on this machine, lists sent messages: a path, an address, or $NAME. With the
                            plugin, the address that the app logs at its start.
  --totp <$NAME>            The variable with the base32 secret of the user's authenticator app, if codes are not sent.
  --factor <id>             The factor to ask the plugin for. Defaults to the first whose code can be read.
  --request <request>       Requests a code, like 'POST /otp/send'.
  --verify <request>        Submits a code, like 'POST /otp code={code}'.
  --other-sign-in <request> The sign-in of a second test user, the attacker's own account. It may be locked.
  --other-totp <$NAME>      The same as --totp, for that user.
  --login <request>         Another login of the first user. Can be repeated.
  --change <request>        A request that changes or removes a factor. Can be repeated.
  --stricter <path>         A page that asks for more than the factor of this user. Can be repeated.
  --remember <fields>       The field by which a browser is remembered. Defaults to trust=true with the plugin.
  --sign-out <request>      Defaults to 'POST /logout'.
  --reset <request>         Resets the account of the first user, sent by an operator. It ends the factors of that user.
  --operator-sign-in <request> The sign-in of that operator.
  --operator-totp <$NAME>   The same as --totp, for the operator.
  --relay                   Tries no attack, but whether a phishing page can pass on a code and a key.
  --skip <attack>           Does not try an attack. Can be repeated.
  --json                    Prints the report as JSON.

Exit code: 0 if each promise held, 1 if one is broken, 2 if an attack could not be tried that --skip does not name.
With --relay: 0 if a key cannot be passed on, 1 if it can, 2 if that could not be tried.`

const read = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: ATTACK_OPTIONS, allowPositionals: true, strict: true })

type Values = ReturnType<typeof read>['values']

/** The finding of one attack. */
interface Finding extends Verdict {
  readonly attack: string
  readonly promise: string
}

/** The report as JSON. `unknown` if a promise could not be tested: that is never `held`. */
export interface AttackReport {
  readonly outcome: 'held' | 'broken' | 'unknown'
  readonly findings: readonly Finding[]
}

const EXIT_CODES = { held: 0, broken: 1, unknown: 2 } as const

/**
 * Runs `countersign attack` and returns its exit code.
 * @throws {Error} for an argument that cannot be used, and for an app that is not on this machine.
 */
export async function runAttack(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = read(args)
  if (values.help) {
    print(HELP, io)
    return EXIT_CODES.held
  }
  const [address, ...more] = positionals
  if (address === undefined || more.length > 0) {
    throw new Error(
      'Expected one address: countersign attack http://localhost:3000. See countersign attack --help.',
    )
  }
  const target = await readTarget(address, values, io)
  if (values.relay) return printRelay(await relayFactors(target), values, io)
  const report = await runAll(openScene(target), values.skip, io)
  if (values.json) io.out(JSON.stringify(report, null, 2))
  else print(table(report), io)
  return EXIT_CODES[report.outcome]
}

/** Runs the attacks one after the other. */
async function runAll(scene: Scene, skipped: readonly string[], io: CommandIo): Promise<AttackReport> {
  const unknown = skipped.find((skip) => !ATTACKS.some(({ name }) => name === skip))
  if (unknown !== undefined) {
    throw new Error(`There is no attack "${unknown}", only ${ATTACKS.map(({ name }) => name).join(', ')}.`)
  }
  const findings: Finding[] = []
  for (const [at, { name, promise, run }] of ATTACKS.entries()) {
    if (io.isTerminal) io.err(`${at + 1} of ${ATTACKS.length}: ${name}`)
    const untried = (reason: string): Verdict => ({ verdict: 'untried', reason })
    const verdict = skipped.includes(name)
      ? untried('--skip leaves it out')
      : await run(scene).catch((error: unknown) =>
          untried(error instanceof Untried ? error.message : describeError(error)),
        )
    findings.push({ attack: name, promise, ...verdict })
  }
  const tried = findings.filter(({ attack }) => !skipped.includes(attack))
  const isHeld = tried.length > 0 && tried.every(({ verdict }) => verdict === 'held')
  const isBroken = tried.some(({ verdict }) => verdict === 'broken')
  return { outcome: isBroken ? 'broken' : isHeld ? 'held' : 'unknown', findings }
}

const WORDS = { held: 'held', broken: 'BROKEN', untried: 'not tried' } as const

/** The report as text. */
function table({ outcome, findings }: AttackReport): string {
  const width = Math.max(...findings.map(({ attack }) => attack.length))
  const count = (wanted: Verdict['verdict']) => findings.filter(({ verdict }) => verdict === wanted).length
  return [
    ...findings.map(
      ({ attack, verdict, promise, reason }) =>
        `${WORDS[verdict].padEnd(9)}  ${attack.padEnd(width)}  ${promise}\n${' '.repeat(width + 13)}${reason}`,
    ),
    `Held: ${count('held')}. Broken: ${count('broken')}. Not tried: ${count('untried')}.`,
    ...(outcome === 'unknown' ? ['What was not tried is not held. --skip leaves an attack out.'] : []),
  ].join('\n')
}

function printRelay(factors: readonly Relayed[], { json }: Values, io: CommandIo): number {
  const lines = factors.map(
    ({ factor, relayed, reason }) => `${factor.padEnd(6)}${relayed.padEnd(9)}${reason}`,
  )
  if (json) io.out(JSON.stringify(factors, null, 2))
  else print(['A phishing page can pass on:', ...lines].join('\n'), io)
  const key = factors.find(({ factor }) => factor === 'key')?.relayed
  return EXIT_CODES[key === 'no' ? 'held' : key === 'yes' ? 'broken' : 'unknown']
}
