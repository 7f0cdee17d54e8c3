/** The result of `work`; `undefined` when it throws. Its error is dropped: it may quote a secret. */
export function tryTo<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
