import * as z from 'zod'
import { type Duration, durationMs } from './duration.js'

interface ProcessLimit {
  /** The variable in the environment; that of a duration is in seconds. */
  readonly variable: string
  readonly min: number
  readonly max: number
  readonly default: number
  readonly isDuration: boolean
}

const seconds = (variable: string, min: number, max: number, initial: number): ProcessLimit => ({
  variable,
  min: min * 1_000,
  max: max * 1_000,
  default: initial * 1_000,
  isDuration: true,
})

/** How a process uses its database and its time; durations in milliseconds. */
export const PROCESS_LIMITS = {
  databasePoolSize: {
    variable: 'SERVICE_DATABASE_POOL_SIZE',
    min: 1,
    max: 500,
    default: 10,
    isDuration: false,
  },
  databaseConnectTimeout: seconds('SERVICE_DATABASE_CONNECT_SECONDS', 1, 30, 2),
  databaseStatementTimeout: seconds('SERVICE_DATABASE_STATEMENT_SECONDS', 1, 60, 3),
  requestTimeout: seconds('SERVICE_REQUEST_SECONDS', 4, 120, 8),
} as const satisfies Readonly<Record<string, ProcessLimit>>

/** The name of a limit of the process. */
export type ProcessLimitName = keyof typeof PROCESS_LIMITS

const rule = (name: ProcessLimitName, isAllowed: (value: unknown) => boolean) =>
  z.custom<Duration>(isAllowed, { error: `${name} ${expected(name)}` })

/** The rule of a duration, which is complete in milliseconds. */
export const durationRule = (name: Exclude<ProcessLimitName, 'databasePoolSize'>) =>
  rule(name, (value) => isWithin(name, durationMs(value)))
    .default(PROCESS_LIMITS[name].default)
    .transform((value) => durationMs(value) ?? PROCESS_LIMITS[name].default)

/** The rule of the pool's size. */
export const poolSizeRule = z
  .custom<number>((value) => isWithin('databasePoolSize', value), {
    error: `databasePoolSize ${expected('databasePoolSize')}`,
  })
  .default(PROCESS_LIMITS.databasePoolSize.default)

function isWithin(name: ProcessLimitName, value: unknown): boolean {
  const { min, max } = PROCESS_LIMITS[name]
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

/** What a value of the limit must be, as the end of a sentence. */
function expected(name: ProcessLimitName): string {
  const { min, max, default: initial, isDuration } = PROCESS_LIMITS[name]
  if (!isDuration) return `must be a whole number from ${min} to ${max} (default ${initial})`
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
    const [min, max, initial] = [limit.min, limit.max, limit.default].map((bound) => bound / factor)
    const unit = limit.isDuration ? ' of seconds' : ''
    faults.push(`${limit.variable} must be a whole number${unit} from ${min} to ${max} (default ${initial}).`)
    return []
  })
  return Object.fromEntries(entries)
}
