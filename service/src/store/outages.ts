import { findSqlState, isRaisedConflict } from './sql-state.js'
import type { Store, Transactions } from './store.js'

/** For how long a database counts as full after it refused to write for that reason. */
const FULL_FOR_MS = 3_000

/** Observes a store. A full database still reads, and changes rows on pages with free space: only statements that fail show it. */
export function storeOutages(store: Store) {
  let fullUntil = 0
  const observeWork = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.reason === 'full') {
        fullUntil = performance.now() + FULL_FOR_MS
      }
      throw error
    }
  }
  const observe = (transactions: Transactions): Transactions => ({
    query: (text, params) => observeWork(transactions.query(text, params)),
    transaction: (work) => observeWork(transactions.transaction(work)),
  })
  return {
    store: { ...store, ...observe(store), background: observe(store.background) } satisfies Store,
    /** Whether a statement failed in the last seconds because the database has no disk space left. */
    isFull: () => performance.now() < fullUntil,
  }
}

const SENTENCES = {
  unreachable: 'The database is unreachable',
  read_only: 'The database is read-only',
  full: 'The database has no disk space left',
  overloaded: 'The database did not respond in time',
  // Repeating transactions that got in each other's way did not help for seconds.
  conflict: 'The database could not serialize concurrent transactions',
  // It lacks a privilege, or may not log in any more.
  forbidden: 'The database refuses the role of the service',
}

/** Why the database cannot be used. */
export type UnavailableReason = keyof typeof SENTENCES

/** The database cannot be used at the moment. Nothing is wrong with the statement, so it may succeed later. */
export class StoreUnavailableError extends Error {
  readonly reason: UnavailableReason

  constructor(reason: UnavailableReason, options: { readonly cause: unknown }) {
    super(`${SENTENCES[reason]}${describeDetail(options.cause)}`, options)
    this.name = 'StoreUnavailableError'
    this.reason = reason
  }
}

/** SQLSTATE codes, or their classes, after which a statement may succeed later. */
const REASON_OF: Readonly<Record<string, UnavailableReason>> = {
  '08': 'unreachable',
  // A server that shuts down or starts, and a session that it ended.
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  '25P03': 'unreachable',
  '25006': 'read_only',
  '53100': 'full',
  '58030': 'full',
  '53': 'overloaded',
  // A statement that took too long, and a row that stayed locked.
  '57014': 'overloaded',
  '55P03': 'overloaded',
  '40001': 'conflict',
  '40P01': 'conflict',
  '28': 'forbidden',
  '42501': 'forbidden',
  // Without the privilege to use a schema, its tables do not exist.
  '42P01': 'forbidden',
}

/** The error as a `StoreUnavailableError` if the database reported such a state, else unchanged. */
export function reportOutage(error: unknown): unknown {
  if (isRaisedConflict(error)) return new StoreUnavailableError('conflict', { cause: error })
  const state = findSqlState(error)
  const reason = state === undefined ? undefined : (REASON_OF[state] ?? REASON_OF[state.slice(0, 2)])
  return reason ? new StoreUnavailableError(reason, { cause: error }) : error
}

/** The same for an error of a network driver: without an answer of the database, it is unreachable. */
export function reportDriverError(error: unknown): unknown {
  const isOurs =
    error instanceof StoreUnavailableError || error instanceof TypeError || error instanceof RangeError
  if (isOurs || findSqlState(error) !== undefined) return reportOutage(error)
  return new StoreUnavailableError('unreachable', { cause: error })
}

/** The database's own message; for a connection that several addresses refused, the message of the first. */
function describeDetail(cause: unknown): string {
  const first = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? `: ${first.message}` : ''
}
