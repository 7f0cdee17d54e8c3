import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const OUTPUT_CHARACTERS = 1024 * 1024
const COMPLAINT_CHARACTERS = 400

/** How a program ended. */
export interface Ended {
  /** `undefined` when it was ended by a signal, ours or another. */
  readonly status: number | undefined
  readonly output: string
  /** The end of what it wrote to standard error. */
  readonly complaint: string
}

/**
 * Runs a program without a shell, without our environment's secrets and with nothing to read. When `signal` aborts it is killed and
 * the promise is rejected with the reason.
 */
export function run(
  [program, ...parameters]: readonly [string, ...string[]],
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { PATH, LANG } = process.env
    const child = spawn(program, parameters, {
      cwd: folder,
      env: { PATH, LANG, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > OUTPUT_CHARACTERS) child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS)
    })
    let failure: Error | undefined
    child.on('error', (error) => {
      failure = error
      // A program that never started does not close; one that was killed does, and then lets go of its files.
      if (child.pid === undefined) reject(error)
    })
    child.on('close', (status) => {
      if (signal.aborted) reject(signal.reason)
      else if (failure) reject(failure)
      else resolve({ status: status ?? undefined, output, complaint: complaint.trim() })
    })
  })
}

/** Whether a program is to be found, by its name on the PATH or by its own path. */
export function isInstalled(program: string): boolean {
  const places = program.includes('/')
    ? [program]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
