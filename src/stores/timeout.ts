import { withTimeout } from '../timeout.js'

/** How long a store operation may take. */
const STORE_TIMEOUT_MS = 3_000

/** Resolves like a store operation, or rejects when it takes too long. */
export function withStoreTimeout<Result>(operation: Promise<Result>): Promise<Result> {
  return withTimeout(operation, STORE_TIMEOUT_MS)
}
