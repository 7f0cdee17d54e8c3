import * as z from 'zod'
import { type Duration, durationMs } from './duration.js'

interface ProcessLimit {
  /** The variable in the environment; that of a duration is in seconds. */
  readonly variable: string
  readonly min: number
  readonly max: number
  /** `undefined` when it depends on other options. */
  readonly default: number | undefined
  readonly isDuration: boolean
}

const seconds = (variable: string, min: number, max: number, initial: number) =>
  ({
    variable,
    min: min * 1_000,
    max: max * 1_000,
    default: initial * 1_000,
    isDuration: true,
  }) as const

const count = <const Default extends number | undefined>(
  variable: string,
  min: number,
  max: number,
  initial: Default,
) => ({ variable, min, max, default: initial, isDuration: false }) as const

/** How a process uses its database, its time and its transcription engine; durations in milliseconds. */
export const PROCESS_LIMITS = {
  databasePoolSize: count('SERVICE_DATABASE_POOL_SIZE', 1, 500, 10),
  databaseConnectTimeout: seconds('SERVICE_DATABASE_CONNECT_SECONDS', 1, 30, 2),
  databaseStatementTimeout: seconds('SERVICE_DATABASE_STATEMENT_SECONDS', 1, 60, 3),
  requestTimeout: seconds('SERVICE_REQUEST_SECONDS', 4, 120, 8),
  requestsPerAccount: count('SERVICE_REQUESTS_PER_ACCOUNT', 1, 1_000, 8),
  transcriberConcurrency: count('SERVICE_TRANSCRIBER_CONCURRENCY', 1, 1_000, undefined),
  transcriptionStreams: count('SERVICE_TRANSCRIPTION_STREAMS', 1, 10_000, undefined),
} as const satisfies Readonly<Record<string, ProcessLimit>>

/** The name of a limit of the process. */
export type ProcessLimitName = keyof typeof PROCESS_LIMITS

type DurationName = {
  [Name in ProcessLimitName]: (typeof PROCESS_LIMITS)[Name]['isDuration'] extends true ? Name : never
}[ProcessLimitName]

/** The rule of a duration, which is complete in milliseconds. */
export const durationRule = (name: DurationName) =>
  z
    .custom<Duration>((value) => isWithin(name, durationMs(value)), { error: `${name} ${expected(name)}` })
    .default(PROCESS_LIMITS[name].default)
    .transform((value) => durationMs(value) ?? PROCESS_LIMITS[name].default)

/** The rule of a whole number. */
export const countRule = (name: Exclude<ProcessLimitName, DurationName>) =>
  z.custom<number>((value) => isWithin(name, value), { error: `${name} ${expected(name)}` })

function isWithin(name: ProcessLimitName, value: unknown): boolean {
  const { min, max } = PROCESS_LIMITS[name]
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

/** What a value of the limit must be, as the end of a sentence. */
function expected(name: ProcessLimitName): string {
  const { min, max, default: initial, isDuration } = PROCESS_LIMITS[name]
  if (!isDuration) {
    const usual = initial === undefined ? '' : ` (default ${initial})`
    return `must be a whole number from ${min} to ${max}${usual}`
  }
  const [from, to, usual] = [min, max, initial].map((ms) => `${ms / 1_000}s`)
  return `must be a duration from ${from} to ${to}, or a number of milliseconds (default ${usual})`
}

/** The limits that environment variables set; adds a sentence to `faults` for each that is wrong. */
export function readProcessLimits(
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Partial<Record<ProcessLimitName, number>> {
  const entries = Object.entries(PROCESS_LIMITS).flatMap(([name, limit]) => {
    const text = env[limit.variable]
    if (!text) return []
    const factor = limit.isDuration ? 1_000 : 1
    const value = Number(text) * factor
    if (/^\d{1,6}$/.test(text) && value >= limit.min && value <= limit.max) return [[name, value]]
    const range = `from ${limit.min / factor} to ${limit.max / factor}`
    const usual = limit.default === undefined ? '' : ` (default ${limit.default / factor})`
    const unit = limit.isDuration ? ' of seconds' : ''
    faults.push(`${limit.variable} must be a whole number${unit} ${range}${usual}.`)
    return []
  })
  return Object.fromEntries(entries)
}
