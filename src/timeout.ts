/**
 * Resolves like `work`, or rejects with the error of `timedOut` after `timeoutMs` milliseconds. The work itself is not
 * canceled; it may still complete later, and its result is ignored.
 */
export function withTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  timedOut = () => new Error(`There was no answer within ${timeoutMs / 1000} s.`),
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut()), timeoutMs)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
