import { randomUUID } from 'node:crypto'
import { type Keys, mac } from '../secrets/keys.js'
import { queryOne, type Store, statement } from '../store/store.js'

const RETENTION_MS = 24 * 3_600_000
// Longer than any request takes: after that, the process that handles the request counts as dead.
const LEASE_MS = 60_000

/** A request with an Idempotency-Key. */
interface KeyedRequest {
  readonly application: string
  readonly key: string
  /** Everything that distinguishes the request from others. */
  readonly content: readonly (string | number)[]
}

/** How a request with an Idempotency-Key is to be handled. */
type Acquisition =
  | {
      readonly outcome: 'first'
      /** Stores the response for repetitions of the request. */
      keep(answer: object): Promise<void>
      /** Frees the key, because nothing was done. */
      release(): Promise<void>
    }
  | { readonly outcome: 'answered'; readonly answer: object }
  | { readonly outcome: 'in_flight' }
  | { readonly outcome: 'other_request' }

/** Stores the response to each Idempotency-Key for 24 h, for all processes of the service. */
export interface IdempotentRequests {
  /** Acquires the key for the first request; distinguishes a repetition from another request. */
  acquire(request: KeyedRequest): Promise<Acquisition>
}

interface Row {
  readonly request: string
  readonly claim: string
  readonly answer: string | null
}

const IS_EXPIRED = 'known.expires_at <= :now::bigint'
const IS_ABANDONED =
  'known.answer IS NULL AND known.request = :request AND known.claimed_until <= :now::bigint'

// A single statement, so that of any number of concurrent requests, in any number of processes, one is the first.
const ACQUIRE = statement<{
  application: string
  name: string
  request: string
  claim: string
  now: number
  claimedUntil: number
  expiresAt: number
}>(`INSERT INTO idempotent_request AS known (application, key, request, claim, claimed_until, expires_at)
  VALUES (:application, :name, :request, :claim, :claimedUntil::bigint, :expiresAt::bigint)
  ON CONFLICT (application, key) DO UPDATE SET
    request = CASE WHEN ${IS_EXPIRED} THEN :request ELSE known.request END,
    answer = CASE WHEN ${IS_EXPIRED} THEN NULL ELSE known.answer END,
    claim = CASE WHEN ${IS_EXPIRED} OR (${IS_ABANDONED}) THEN :claim ELSE known.claim END,
    claimed_until = CASE WHEN ${IS_EXPIRED} OR (${IS_ABANDONED}) THEN :claimedUntil::bigint
      ELSE known.claimed_until END,
    expires_at = CASE WHEN ${IS_EXPIRED} THEN :expiresAt::bigint ELSE known.expires_at END
  RETURNING request, claim, answer`)

export function idempotentRequests(store: Store, keys: Keys): IdempotentRequests {
  /**
   * During a rotation of secrets, another process may have stored the request under the name of a former key. Each
   * request looks for it after acquiring its own key, so of two concurrent requests at least one sees the other.
   */
  async function findUnderFormerKey(keyed: KeyedRequest, now: number): Promise<Acquisition | undefined> {
    for (const former of keys.previous) {
      const { name, request } = storedNames(former, keyed)
      const row = await queryOne<Row>(
        store,
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
    async acquire(keyed) {
      const { application } = keyed
      const now = Date.now()
      const claim = randomUUID()
      const { name, request } = storedNames(keys, keyed)
      const times = { now, claimedUntil: now + LEASE_MS, expiresAt: now + RETENTION_MS }
      const params = ACQUIRE.values({ application, name, request, claim, ...times })
      const row = await queryOne<Row>(store, ACQUIRE.text, params)
      if (!row) throw new Error('The store returned no row for an Idempotency-Key.')
      if (row.request !== request) return { outcome: 'other_request' }
      if (row.answer !== null) return { outcome: 'answered', answer: JSON.parse(row.answer) }
      if (row.claim !== claim) return { outcome: 'in_flight' }
      const own = [application, name, claim]
      const first = {
        outcome: 'first',
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
      } as const
      const elsewhere = await findUnderFormerKey(keyed, now)
      if (elsewhere) await first.release()
      return elsewhere ?? first
    },
  }
}

/** The stored form of the key and of the request: keyed hashes. */
function storedNames(
  keys: Keys,
  { application, key, content }: KeyedRequest,
): { name: string; request: string } {
  const hash = (parts: readonly (string | number)[]) =>
    mac(keys.references, ['idempotency', application, ...parts]).toString('base64url')
  return { name: hash(['key', key]), request: hash(['request', ...content]) }
}
