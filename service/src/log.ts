import type { Application } from './application.js'
import type { Keys } from './secrets/keys.js'
import { mac } from './secrets/keys.js'

/** What is worth writing down (R89). It holds no code, secret or contact; accounts appear as references. */
export interface LogEvent {
  readonly level: 'info' | 'warn' | 'error'
  /** What happened, in dotted words: `verify.failed`, `account.locked` … */
  readonly event: string
  readonly application?: string
  /** Stands for the account: the same account always has the same reference, and none leads back. */
  readonly account?: string
  readonly factor?: string
  readonly purpose?: string
  readonly channel?: string
  readonly reason?: string
  readonly detail?: string
}

/** Takes each event as it happens. Must not throw. */
export type Logger = (event: LogEvent) => void

/** One line of JSON for each event, with the time, to a stream such as `process.stdout`. */
export function jsonLogger(stream: { write(line: string): unknown }): Logger {
  return (event) => {
    stream.write(`${JSON.stringify({ time: new Date(Date.now()).toISOString(), ...event })}\n`)
  }
}

/** The default: only what an operator must know, on standard error. */
export function warningsOnly(): Logger {
  const write = jsonLogger(process.stderr)
  return (event) => {
    if (event.level !== 'info') write(event)
  }
}

/** Names an account in the log. */
export function accountReference(keys: Keys, application: Application, account: string): string {
  return mac(keys.references, [application.id, account]).toString('hex').slice(0, 12)
}

/** What may be told about an error: its own name and message, and the code of what caused it (R84). */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error'
  const { code, responseCode } = (error.cause ?? {}) as { code?: unknown; responseCode?: unknown }
  const causes = [code, responseCode].filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  return `${error.name}: ${error.message}${causes.length > 0 ? ` (${causes.join(' ')})` : ''}`
}
