import { describeError, type Logger } from '../log/logger.js'

const HOUR_MS = 3_600_000

/** Runs `task` every hour, without keeping the process alive. An error is logged, and the task runs again an hour later. */
export function everyHour(task: () => Promise<void>, log: Logger): { stop(): Promise<void> } {
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = task().catch((error: unknown) =>
      log({ level: 'warn', event: 'store.maintenance_failed', detail: describeError(error) }),
    )
  }, HOUR_MS).unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}
