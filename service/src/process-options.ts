import * as z from 'zod'
import { drainRule } from './limits.js'
import { LOG_LEVELS } from './log/logger.js'

const port = (error: string) =>
  z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, { error })
    .transform(Number)

const host = (error: string) => z.string().regex(/^[A-Za-z0-9.:%_-]{1,255}$/, { error })

/** What only the process that serves has, beside the options of `createService`. Environment variables set it. */
export const processSchema = z.strictObject({
  /** The address to listen on, such as `0.0.0.0`. Defaults to 127.0.0.1, in production to every address. */
  host: host('host must be an address of this machine, such as 127.0.0.1, 0.0.0.0 or ::').optional(),
  /** The port to listen on. Defaults to `PORT`, else 4000. */
  port: port('port must be a port number from 0 to 65535 (default 4000)').prefault('4000'),
  /** The least urgent events in the log: info, warn or error. Defaults to info. */
  logLevel: z
    .enum(LOG_LEVELS, { error: `logLevel must be ${LOG_LEVELS.join(', ')} (default info)` })
    .default('info'),
  drainDuration: drainRule,
  /** A port for the console alone. Defaults to the port of the API. */
  consolePort: port(
    'consolePort must be a port number from 0 to 65535 (default: that of the API)',
  ).optional(),
  /** The address to listen on for the console alone; needs `consolePort`. Defaults to `host`. */
  consoleHost: host('consoleHost must be an address of this machine, such as 127.0.0.1').optional(),
  /** Pages for operators at `/console`. Defaults to `false`. */
  console: z.boolean({ error: 'console must be true or false (default false)' }).default(false),
})
