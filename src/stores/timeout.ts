/** How long a store operation may take. */
const STORE_TIMEOUT_MS = 3_000

/**
 * Resolves like `work`, or rejects after `timeoutMs` milliseconds (default: the limit for a store operation). The work
 * itself is not canceled; it may still complete later.
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs = STORE_TIMEOUT_MS,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`There was no answer within ${timeoutMs / 1000} s.`)),
      timeoutMs,
    )
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
