import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const MAX_OUTPUT_CHARACTERS = 1024 * 1024
const MAX_ERROR_CHARACTERS = 400

/** The result of a program. */
export interface ProgramResult {
  /** The exit status; `undefined` when a signal ended the program. */
  readonly status: number | undefined
  readonly output: string
  /** The end of what it wrote to standard error. */
  readonly errorOutput: string
}

/**
 * Runs a program without a shell, without the secrets in our environment, and without input. When `signal` aborts, the
 * program is killed and the promise is rejected with the reason.
 */
export function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  {
    folder,
    signal,
    onLine = () => {},
  }: {
    readonly folder: string
    readonly signal: AbortSignal
    /** Called for each line of the output as soon as it is complete. */
    readonly onLine?: (line: string) => void
  },
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const { PATH, LANG } = process.env
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH, LANG, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    let errorOutput = ''
    let unfinished = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const lines = (unfinished + text).split('\n')
      unfinished = lines.pop() ?? ''
      if (!signal.aborted) lines.forEach(onLine)
      if (output.length > MAX_OUTPUT_CHARACTERS) child.kill('SIGKILL')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = (errorOutput + text).slice(-MAX_ERROR_CHARACTERS)
    })
    let failure: Error | undefined
    child.on('error', (error) => {
      failure = error
      // A program that did not start emits no `close`; a killed one does, after it has released its files.
      if (child.pid === undefined) reject(error)
    })
    child.on('close', (status) => {
      if (signal.aborted) reject(signal.reason)
      else if (failure) reject(failure)
      else resolve({ status: status ?? undefined, output, errorOutput: errorOutput.trim() })
    })
  })
}

/** Whether a program exists, given by its name on the PATH or by its path. */
export function isInstalled(program: string): boolean {
  const paths = program.includes('/')
    ? [program]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
