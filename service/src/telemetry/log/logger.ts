import pino from 'pino'

/** One entry of the log (R89). It contains no code, secret or contact; accounts appear as references. */
export interface LogEvent {
  /** How urgent it is. */
  readonly level: 'info' | 'warn' | 'error'
  /** The event, in dotted words such as `verify.failed` or `account.locked`. */
  readonly event: string
  /** The application that it concerns. */
  readonly application?: string
  /** Stands for the account: one account always has the same reference, and nothing leads back from it. */
  readonly account?: string
  /** The factor or method that was used. */
  readonly factor?: string
  /** The purpose of a code. */
  readonly purpose?: string
  /** The id of what a factor approves, as the application named it. */
  readonly approval?: string
  /** The channel of a message. */
  readonly channel?: string
  /** The id of a message, as the command `deliveries` lists it. */
  readonly message?: string
  /** The name of the carrier. */
  readonly carrier?: string
  /** Why, as a fixed word. */
  readonly reason?: string
  /** The name of a recording, or its address without the query. */
  readonly file?: string
  /** Size of a recording. */
  readonly bytes?: number
  /** Length of a recording, or of a pause. */
  readonly seconds?: number
  /** A sentence for the operator. */
  readonly detail?: string
  /** The request that it belongs to: the response's `X-Request-Id`. */
  readonly request?: string
  /** The id of the OpenTelemetry trace that it belongs to. */
  readonly trace?: string
  /** The id of the API key that came with a request; `SERVICE_API_KEY` for that of the options. */
  readonly key?: string
  /** The address that a request came from. */
  readonly client?: string
  /** The HTTP method. */
  readonly method?: string
  /** The route's template, without anything that the caller sent. */
  readonly route?: string
  /** The HTTP status. */
  readonly status?: number
  /** The `code` of the problem in the response. */
  readonly problem?: string
  /** Duration in milliseconds. */
  readonly ms?: number
  /** The release of the service. */
  readonly version?: string
  /** The address and port that the service listens on. */
  readonly address?: string
  /** The kind of database. */
  readonly store?: string
  /** The carriers of each channel, such as `email=smtp, sms=twilio|webhook`. */
  readonly carriers?: string
  /** The engine that transcribes recordings. */
  readonly transcriber?: string
}

/** Receives each event as it happens. It must not throw. */
export type Logger = (event: LogEvent) => void

/** A logger that writes one JSON line per event, with the time, to a stream such as `process.stdout`. */
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
  return ({ level, event, ...fields }) => write[level](fields, event)
}

/** A logger that passes each event to several loggers. */
export function combinedLogger(...loggers: readonly Logger[]): Logger {
  return (event) => {
    for (const log of loggers) log(event)
  }
}

/** The levels of the log, from the most to the least verbose. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const

/** A logger that passes on the events of this level and of more urgent ones. */
export function leveledLogger(level: LogEvent['level'], log: Logger): Logger {
  const least = LOG_LEVELS.indexOf(level)
  return (event) => {
    if (LOG_LEVELS.indexOf(event.level) >= least) log(event)
  }
}

/** The default logger: warnings and errors on standard error. */
export function warningsOnly(): Logger {
  return leveledLogger('warn', jsonLogger(process.stderr))
}

/** The text that the log may contain of an error: its name, its message and the code of its cause (R84). */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error'
  const { code, responseCode } = (error.cause ?? {}) as { code?: unknown; responseCode?: unknown }
  const causes = [code, responseCode].filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  return `${error.name}: ${error.message}${causes.length > 0 ? ` (${causes.join(' ')})` : ''}`
}

/** Writes the lines of one turn of the event loop together: a write each costs more than a request. `flush` before the process ends. */
export function lineBuffer(stream: { write(lines: string): unknown }) {
  let lines = ''
  const flush = () => {
    if (lines === '') return
    const text = lines
    lines = ''
    stream.write(text)
  }
  return {
    write(line: string): void {
      if (lines === '') setImmediate(flush)
      lines += line
    },
    flush,
  }
}
