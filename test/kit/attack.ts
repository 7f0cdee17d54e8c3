import { ATTACKS } from '../../src/cli/attack/attacks.js'
import type { AttackReport } from '../../src/cli/attack.js'
import { runCommand } from '../../src/cli/main.js'

/** Leaves out all attacks but these. */
export const skipAllBut = (...names: readonly string[]) =>
  ATTACKS.filter(({ name }) => !names.includes(name)).flatMap(({ name }) => ['--skip', name])

type Env = Readonly<Record<string, string | undefined>>

/** Runs `countersign attack`, and returns what it printed and its exit code. */
export async function runAttackCommand(args: readonly string[], env: Env = {}, isTerminal = false) {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(['attack', ...args], {
    env,
    isTerminal,
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** The same with its report. */
export async function runAttack(address: string, args: readonly string[], env?: Env) {
  const { code, out, err } = await runAttackCommand([address, ...args, '--json'], env)
  const report: AttackReport = out === '' ? { outcome: 'unknown', findings: [] } : JSON.parse(out)
  return { code, report, err }
}

/** The names of the attacks with a verdict. */
export function findingsIn({ findings }: AttackReport, wanted: string): string[] {
  return findings.filter(({ verdict }) => verdict === wanted).map(({ attack }) => attack)
}
