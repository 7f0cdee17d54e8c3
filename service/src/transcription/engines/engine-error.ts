/** How an engine failed: `engine_failed` lasts until the operator acts, `engine_unavailable` passes by itself. */
export type EngineFailure = 'engine_failed' | 'engine_unavailable'

const RETRY_AFTER_SECONDS: Readonly<Record<EngineFailure, number>> = {
  engine_failed: 60,
  engine_unavailable: 10,
}
const MAX_RETRY_AFTER_SECONDS = 3_600

/** A transcription engine failed. The message is for the log, and holds nothing that the engine sent. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: EngineFailure
  /** When the caller may try again, from one second to an hour. */
  readonly retryAfterSeconds: number

  constructor(
    code: EngineFailure,
    message: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message, options)
    this.code = code
    const seconds = options.retryAfterSeconds ?? RETRY_AFTER_SECONDS[code]
    this.retryAfterSeconds = Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS)
  }
}

/** The same failure as an `EngineError`. An engine that took too long is unavailable; all others failed. */
export function engineErrorOf(engine: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
  const message = error instanceof Error ? error.message : 'unknown failure'
  return new EngineError(isTimeout ? 'engine_unavailable' : 'engine_failed', `${engine}: ${message}`, {
    cause: error,
  })
}
