import type { Granted } from 'countersign/protocol'
import type { Queries } from '../../store/store.js'
import type { Message } from '../message.js'

/** A message in the outbox. */
export interface QueuedMessage extends Message {
  /** Identifies the message; the same for every attempt to deliver it. */
  readonly id: string
  readonly application: string
  /** The partition of the outbox that it is in. */
  readonly slot: number
  /** From this time on, in milliseconds since 1970, the message is useless. */
  readonly expiresAt: number
  /** Until when no other process may take the message; `null` for its first attempt, for which its writer has `LEASE_MS`. */
  readonly leasedUntil: number | null
  /** How many attempts to deliver it were made before. */
  readonly attempts: number
}

/** The fields by which the log identifies a message. */
export function messageLogFields({ application, channel, purpose, id, request }: QueuedMessage) {
  return { application, channel, purpose, message: id, ...(request !== undefined && { request }) }
}

const CHALLENGE = /^[\w-]{1,128}$/
/** The states of a message, the worst one first. */
export const WORST_STATE_FIRST: readonly string[] = [
  'refused',
  'failed',
  'expired',
  'queued',
  'sent',
  'delivered',
]

/** The delivery state of a challenge's latest message, the worse one of the two of DUAL; `undefined` when there is none. */
export async function deliveryState(
  queries: Queries,
  application: string,
  challenge: string,
): Promise<Granted<'deliveryOf'> | undefined> {
  if (!CHALLENGE.test(challenge)) return undefined
  const rows = await queries.query<{
    state: Granted<'deliveryOf'>['status']
    channel: Granted<'deliveryOf'>['channel']
    masked: string
    carrier: string | null
    updated_at: number
  }>(
    `SELECT state, channel, masked, carrier, updated_at FROM outbox
     WHERE application = $1 AND challenge = $2 AND created_at =
       (SELECT max(created_at) FROM outbox WHERE application = $1 AND challenge = $2)`,
    [application, challenge],
  )
  const [row] = rows.sort((a, b) => WORST_STATE_FIRST.indexOf(a.state) - WORST_STATE_FIRST.indexOf(b.state))
  if (!row) return undefined
  const { state: status, channel, masked: to, carrier, updated_at: updatedAt } = row
  return { status, channel, to, ...(carrier !== null && { carrier }), updatedAt }
}

const REFERENCE = /^([\w-]{22})\.([a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?)$/

/** Identifies a message to a carrier, which repeats the reference in its delivery reports. */
export function messageReference({ application, id }: Pick<QueuedMessage, 'application' | 'id'>): string {
  return `${id}.${application}`
}

/** The message that a reference identifies; `undefined` when it is not one. */
export function parseReference(reference: unknown): Pick<QueuedMessage, 'application' | 'id'> | undefined {
  const [, id, application] = typeof reference === 'string' ? (REFERENCE.exec(reference) ?? []) : []
  return id === undefined || application === undefined ? undefined : { application, id }
}
