import { randomUUID } from 'node:crypto'
import { type Keys, mac } from '../secrets/keys.js'
import { one, type Store } from '../store/store.js'

const KEPT_MS = 24 * 3_600_000
// Longer than any request takes: after it whoever worked on it counts as dead.
const CLAIM_MS = 60_000

/** What an Idempotency-Key stands for: one request of one application. */
export interface KeyedRequest {
  readonly application: string
  readonly key: string
  /** Everything that makes it this request and no other. */
  readonly content: readonly (string | number)[]
}

/** How a request with an Idempotency-Key is to be treated. */
export type Claim =
  | {
      readonly outcome: 'first'
      /** Keeps the answer for whoever asks again. */
      keep(answer: object): Promise<void>
      /** Nothing was done: the key may be used again. */
      release(): Promise<void>
    }
  | { readonly outcome: 'answered'; readonly answer: object }
  | { readonly outcome: 'in_flight' }
  | { readonly outcome: 'other_request' }

/** Remembers for 24 h what was answered to which key, for all processes of the service. */
export interface IdempotentRequests {
  claim(request: KeyedRequest): Promise<Claim>
  /** Deletes what has outlived its day. */
  sweep(): Promise<void>
}

interface Row {
  readonly request: string
  readonly claim: string
  readonly answer: string | null
}

export function idempotentRequests(store: Store, keys: Keys): IdempotentRequests {
  /**
   * While secrets are exchanged another process may know the request under another name. Whoever claims looks after its
   * own claim stands, so of two at once at least one sees the other.
   */
  async function findUnderFormer(asked: KeyedRequest, now: number): Promise<Claim | undefined> {
    for (const former of keys.previous) {
      const { name, request } = namesOf(former, asked)
      const row = await one<Row>(
        store,
        `SELECT request, claim, answer FROM idempotent_request WHERE application = $1 AND key = $2
           AND expires_at > $3 AND (answer IS NOT NULL OR claimed_until > $3)`,
        [asked.application, name, now],
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
    async claim(asked) {
      const { application } = asked
      const now = Date.now()
      const mine = randomUUID()
      const { name, request } = namesOf(keys, asked)
      // One statement: of any number of requests at once, in any number of processes, one is the first.
      const row = await one<Row>(
        store,
        `INSERT INTO idempotent_request AS known (application, key, request, claim, claimed_until, expires_at)
         VALUES ($1, $2, $3, $4, $6::bigint, $7::bigint)
         ON CONFLICT (application, key) DO UPDATE SET
           request = CASE WHEN known.expires_at <= $5::bigint THEN $3 ELSE known.request END,
           answer = CASE WHEN known.expires_at <= $5::bigint THEN NULL ELSE known.answer END,
           claim = CASE WHEN known.expires_at <= $5::bigint OR (known.answer IS NULL AND known.request = $3
             AND known.claimed_until <= $5::bigint) THEN $4 ELSE known.claim END,
           claimed_until = CASE WHEN known.expires_at <= $5::bigint OR (known.answer IS NULL AND known.request = $3
             AND known.claimed_until <= $5::bigint) THEN $6::bigint ELSE known.claimed_until END,
           expires_at = CASE WHEN known.expires_at <= $5::bigint THEN $7::bigint ELSE known.expires_at END
         RETURNING request, claim, answer`,
        [application, name, request, mine, now, now + CLAIM_MS, now + KEPT_MS],
      )
      if (!row) throw new Error('The store kept no row for an Idempotency-Key.')
      if (row.request !== request) return { outcome: 'other_request' }
      if (row.answer !== null) return { outcome: 'answered', answer: JSON.parse(row.answer) }
      if (row.claim !== mine) return { outcome: 'in_flight' }
      const own = [application, name, mine]
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
      const elsewhere = await findUnderFormer(asked, now)
      if (elsewhere) await first.release()
      return elsewhere ?? first
    },

    async sweep() {
      await store.query('DELETE FROM idempotent_request WHERE expires_at <= $1', [Date.now()])
    },
  }
}

/** What is stored of a key and of its request: keyed hashes. */
function namesOf(keys: Keys, { application, key, content }: KeyedRequest): { name: string; request: string } {
  const hash = (parts: readonly (string | number)[]) =>
    mac(keys.references, ['idempotency', application, ...parts]).toString('base64url')
  return { name: hash(['key', key]), request: hash(['request', ...content]) }
}
