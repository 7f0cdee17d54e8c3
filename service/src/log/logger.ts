import pino from 'pino'
import type { Application } from '../application.js'
import type { Keys } from '../secrets/keys.js'
import { mac } from '../secrets/keys.js'

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
  /** A message, by the id that the command `deliveries` shows. */
  readonly message?: string
  readonly carrier?: string
  readonly reason?: string
  /** A recording's name, or its address without the query. */
  readonly file?: string
  readonly bytes?: number
  /** Length of a recording. */
  readonly seconds?: number
  readonly detail?: string
  /** The request it happened in: the answer's `X-Request-Id`. */
  readonly request?: string
  readonly method?: string
  /** Template of the address, without anything the caller wrote in it. */
  readonly route?: string
  readonly status?: number
  /** The `code` of the problem that was answered. */
  readonly problem?: string
  /** How long it took, in milliseconds. */
  readonly ms?: number
}

/** Takes each event as it happens. Must not throw. */
export type Logger = (event: LogEvent) => void

/** One line of JSON for each event, with the time, to a stream such as `process.stdout`. */
export function jsonLogger(stream: { write(line: string): unknown }): Logger {
  const write = pino(
    {
      base: null,
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date(Date.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void stream.write(line) },
  )
  return ({ level, event, ...about }) => write[level](about, event)
}

/** Tells several loggers. */
export function toAll(...loggers: readonly Logger[]): Logger {
  return (event) => {
    for (const log of loggers) log(event)
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
