import { ServiceError } from '../errors.js'
import type { Settings } from '../settings.js'

/**
 * Logs the failure of a service or store. A service that is down fails for every user, so its failure is one line without a
 * stack; the cause of a failed store is logged whole.
 */
export function logFailure(logger: Settings['logger'], error: Error): void {
  const message = `countersign: ${error.message}`
  if (!(error instanceof ServiceError)) return logger.error(message, error.cause ?? '')
  const [reason] = error.cause instanceof Error ? error.cause.message.split('\n') : []
  logger.error(reason && !message.includes(reason) ? `${message} Cause: ${reason}` : message)
}
