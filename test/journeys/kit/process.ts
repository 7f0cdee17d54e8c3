import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A process of the built project, started like in production. */
export interface Running {
  /** Where it listens, e.g. `http://localhost:40123`. */
  readonly url: string
  /** Everything that it has printed. */
  readonly output: () => string
  /** Ends it and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Starts the example app on a free port with data of its own. */
export function startApp(env: Record<string, string>): Promise<Running> {
  return start(['example-app/dist/main.js'], { PORT: '0', ...env }, /Vault is open on (http:\/\/\S+)/)
}

/** Starts the service alone on a free port. */
export function startService(env: Record<string, string>): Promise<Running> {
  return start(['service/dist/main.js'], { SERVICE_PORT: '0', ...env }, /(http:\/\/\S+:\d+)/)
}

/** Runs a command of the built project to its end, and returns what it printed. */
export async function runToEnd(args: string[], env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: environment(env) })
  return stdout
}

function environment(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env }
}

async function start(args: string[], env: Record<string, string>, ready: RegExp): Promise<Running> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const found = ready.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}:\n${output}`)))
  })
  return { url, output: () => output, stop: (signal) => stop(child, signal) }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}
