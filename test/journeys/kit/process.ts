import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { environment, type RunningProcess, SHORT_LIVED, startProcess } from '../../kit/process.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Starts the example app on a free port with data of its own. */
export function startApp(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(['example-app/dist/main.js'], {
    folder: ROOT,
    env: { PORT: '0', ...env },
    listens: /Vault is open on (http:\/\/\S+)/,
  })
}

/** Starts the service alone on a free port. */
export function startService(env: Record<string, string>): Promise<RunningProcess> {
  return startProcess(['service/dist/main.js'], {
    folder: ROOT,
    env: { SERVICE_PORT: '0', ...env },
    listens: /(http:\/\/\S+:\d+)/,
  })
}

/** Runs a command of the built project to its end, and returns what it printed. */
export async function runToEnd(args: string[], env: Record<string, string>): Promise<string> {
  const all = [...SHORT_LIVED, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, all, { cwd: ROOT, env: environment(env) })
  return stdout
}
