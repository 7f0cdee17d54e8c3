import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process of Node that listens. */
export interface RunningProcess {
  /** Where it listens, e.g. `http://localhost:40123`. */
  readonly url: string
  /** Everything that it has printed. */
  output(): string
  /** Ends it and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

interface ProcessOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Finds the address in the output. */
  readonly listens: RegExp
}

/**
 * Flags of Node for a process that lives for seconds. Such a process never gets back the time in which V8 compiles PGlite once more,
 * so that it runs faster: half of all that a start of the service takes.
 */
export const SHORT_LIVED = ['--liftoff-only']

/** A folder whose `node` passes `SHORT_LIVED` on. */
const NODE_BY_NAME = fileURLToPath(new URL('./short-lived', import.meta.url))

/** Starts a script with arguments in a folder, and waits until it prints its address. */
export async function startProcess(
  args: readonly string[],
  { folder, env, listens }: ProcessOptions,
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...SHORT_LIVED, ...args], {
    cwd: folder,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = listens.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}:\n${output}`)))
  })
  return {
    url,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill(signal)
      await gone
    },
  }
}

/** The environment of a process: these variables, and of this process only the paths. Node that it starts by its name has `SHORT_LIVED`. */
export function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: `${NODE_BY_NAME}:${process.env.PATH ?? ''}`, HOME: process.env.HOME ?? '', ...env }
}
