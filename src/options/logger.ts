/** Receives warnings and failures, and at `info`, if it has that function, what the diagnostics compute at start, and the address of the inbox in development. */
export interface Logger {
  info?(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/** A logger whose failure changes nothing, since there is nowhere to report it. */
export function safeLogger(logger: Logger): Required<Logger> {
  const safely = async (call: () => unknown) => {
    await call()
  }
  return {
    info: (message) => void safely(() => logger.info?.(message)).catch(() => {}),
    warn: (message) => void safely(() => logger.warn(message)).catch(() => {}),
    // `console.error` would print an argument that is not given.
    error: (...args) => void safely(() => logger.error(...args)).catch(() => {}),
  }
}
