import { describe, type Logger } from '../log/logger.js'

const HOUR_MS = 3_600_000

/** Runs `sweep` every hour, keeping no process alive. A failure is told and tried again an hour later. */
export function everyHour(sweep: () => Promise<void>, log: Logger): { stop(): Promise<void> } {
  let underWay = Promise.resolve()
  const timer = setInterval(() => {
    underWay = sweep().catch((error: unknown) =>
      log({ level: 'warn', event: 'store.unswept', detail: describe(error) }),
    )
  }, HOUR_MS).unref()
  return {
    stop() {
      clearInterval(timer)
      return underWay
    },
  }
}
