import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from '../../test/kit/process.js'

/** The built process that `npm run service` starts. */
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** A service in its own process. */
export interface Running {
  readonly child: ChildProcess
  readonly url: string
  /** Its output so far, the log and standard error. */
  output(): string
  /** Its standard output so far. */
  log(): string
  ended: Promise<number | null>
}

/** Starts a service without waiting for it, which may open at most so many `files`, with these arguments. */
export function start(
  env: Record<string, string>,
  files?: number,
  args: readonly string[] = [],
): Omit<Running, 'url'> {
  const { PATH = '' } = process.env
  const command = [process.execPath, ...SHORT_LIVED, MAIN, ...args]
  const limited = ['sh', '-c', `ulimit -n ${files} && exec "$@"`, 'sh', ...command]
  const [program = '', ...rest] = files === undefined ? command : limited
  const child = spawn(program, rest, {
    env: { PATH, SERVICE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [text, log] = ['', '']
  child.stdout?.on('data', (chunk) => {
    text += chunk
    log += chunk
  })
  child.stderr?.on('data', (chunk) => (text += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { child, output: () => text, log: () => log, ended }
}

/** Starts a service and waits until it listens. */
export async function startListening(env: Record<string, string>, files?: number): Promise<Running> {
  const started = start(env, files)
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /listens on (http:\S+)/.exec(started.output())?.[1]
      if (found) resolve(found)
    }
    started.child.stderr?.on('data', look)
    void started.ended.then(() => reject(new Error(started.output())))
  })
  return { ...started, url }
}
