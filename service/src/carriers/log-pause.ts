import type { Logger } from '../log/logger.js'
import type { OnPause } from './breaker.js'

/** Logs each pause of a carrier, and its end. */
export function logPause(log: Logger): OnPause {
  return (carrier, pauseMs) => {
    if (pauseMs === undefined) log({ level: 'info', event: 'carrier.resumed', carrier })
    else log({ level: 'warn', event: 'carrier.paused', carrier, seconds: Math.ceil(pauseMs / 1000) })
  }
}
