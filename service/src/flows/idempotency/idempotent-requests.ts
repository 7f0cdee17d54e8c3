import { randomUUID } from 'node:crypto'
import { type Keys, mac } from '../../store/secrets/keys.js'
import { createStatement, type Store } from '../../store/store.js'

const RETENTION_MS = 24 * 3_600_000
/** So much longer than a request may take is its key held: after that, the process that handles it counts as dead. */
const AFTER_LIMIT_MS = 2_000

interface KeyedRequest {
  readonly application: string
  readonly key: string
  /** Everything that distinguishes the request, in a form that later releases keep: during an upgrade, a repetition may reach one. */
  readonly content: readonly (string | number)[]
}

type Acquisition =
  | {
      readonly outcome: 'first'
      readonly operation: Operation
      /** Stores the response for repetitions of the request. */
      keep(answer: object): Promise<void>
      /** Frees the key, because nothing was done. */
      release(): Promise<void>
      /** Leaves the operation to the next repetition, because it is not known whether it was done. */
      abandon(): Promise<void>
    }
  | { readonly outcome: 'answered'; readonly answer: object }
  | { readonly outcome: 'in_flight' }
  | { readonly outcome: 'other_request' }

/** The work of a request, the same when another process takes it over from one that died. */
export interface Operation {
  readonly id: string
  /** Whether an earlier try may have done it. */
  readonly isTakenOver: boolean
}

/** Stores the response to each Idempotency-Key for 24 h, for all processes of the service. */
export type IdempotentRequests = ReturnType<typeof idempotentRequests>

interface Row {
  readonly request: string
  readonly claim: string
  readonly answer: string | null
}

const IS_EXPIRED = 'known.expires_at <= :now::bigint'
const IS_ABANDONED =
  'known.answer IS NULL AND known.request = :request AND known.claimed_until <= :now::bigint'

// `claim` names the operation and the try. A single statement, so that only one of any number of concurrent requests, in any number of processes, is the first.
const ACQUIRE = createStatement<
  Record<'application' | 'name' | 'request' | 'operation' | 'attempt', string> &
    Record<'now' | 'claimedUntil' | 'expiresAt', number>
>(`INSERT INTO idempotent_request AS known (application, key, request, claim, claimed_until, expires_at)
  VALUES (:application, :name, :request, :operation || '.' || :attempt, :claimedUntil::bigint, :expiresAt::bigint)
  ON CONFLICT (application, key) DO UPDATE SET
    request = CASE WHEN ${IS_EXPIRED} THEN :request ELSE known.request END,
    answer = CASE WHEN ${IS_EXPIRED} THEN NULL ELSE known.answer END,
    claim = CASE WHEN ${IS_EXPIRED} THEN EXCLUDED.claim
      WHEN ${IS_ABANDONED} THEN split_part(known.claim, '.', 1) || '.' || :attempt ELSE known.claim END,
    claimed_until = CASE WHEN ${IS_EXPIRED} OR (${IS_ABANDONED}) THEN :claimedUntil::bigint
      ELSE known.claimed_until END,
    expires_at = CASE WHEN ${IS_EXPIRED} THEN :expiresAt::bigint ELSE known.expires_at END
  RETURNING request, claim, answer`)

/** `requestTimeoutMs` is how long a request may take. */
export function idempotentRequests(store: Store, keys: Keys, requestTimeoutMs: number) {
  /** While secrets rotate, another process may store the request under a former key. Each looks after acquiring, so one of two sees the other. */
  async function findUnderFormerKey(keyed: KeyedRequest, now: number): Promise<Acquisition | undefined> {
    for (const former of keys.previous) {
      const { name, request } = hashNames(former, keyed)
      const [row] = await store.query<Row>(
        `SELECT request, claim, answer FROM idempotent_request WHERE application = $1 AND key = $2
           AND expires_at > $3 AND (answer IS NOT NULL OR claimed_until > $3)`,
        [keyed.application, name, now],
      )
      if (!row) continue
      if (row.request !== request) return { outcome: 'other_request' }
      return row.answer === null
        ? { outcome: 'in_flight' }
        : { outcome: 'answered', answer: JSON.parse(row.answer) }
    }
    return undefined
  }

  return {
    /** Acquires the key for the first request; distinguishes a repetition from another request. */
    async acquire(keyed: KeyedRequest): Promise<Acquisition> {
      const { application } = keyed
      const now = Date.now()
      const [operation, attempt] = [randomUUID(), randomUUID()]
      const { name, request } = hashNames(keys, keyed)
      const row = await ACQUIRE.first<Row>(store, {
        ...{ application, name, request, operation, attempt, now },
        claimedUntil: now + requestTimeoutMs + AFTER_LIMIT_MS,
        expiresAt: now + RETENTION_MS,
      })
      if (!row) throw new Error('The store returned no row for an Idempotency-Key.')
      if (row.request !== request) return { outcome: 'other_request' }
      if (row.answer !== null) return { outcome: 'answered', answer: JSON.parse(row.answer) }
      const [begun = '', last] = row.claim.split('.')
      if (last !== attempt) return { outcome: 'in_flight' }
      const own = [application, name, row.claim]
      const first = {
        outcome: 'first',
        operation: { id: begun, isTakenOver: begun !== operation },
        async keep(answer: object) {
          await store.query(
            'UPDATE idempotent_request SET answer = $4 WHERE application = $1 AND key = $2 AND claim = $3',
            [...own, JSON.stringify(answer)],
          )
        },
        async release() {
          await store.query(
            'DELETE FROM idempotent_request WHERE application = $1 AND key = $2 AND claim = $3',
            own,
          )
        },
        async abandon() {
          await store.query(
            'UPDATE idempotent_request SET claimed_until = 0 WHERE application = $1 AND key = $2 AND claim = $3',
            own,
          )
        },
      } as const
      const elsewhere = await findUnderFormerKey(keyed, now)
      if (elsewhere) await first.release()
      return elsewhere ?? first
    },
  }
}

/** The stored form of the key and of the request: keyed hashes. */
function hashNames(keys: Keys, { application, key, content }: KeyedRequest) {
  const hash = (parts: readonly (string | number)[]) =>
    mac(keys.references, ['idempotency', application, ...parts]).toString('base64url')
  return { name: hash(['key', key]), request: hash(['request', ...content]) }
}
