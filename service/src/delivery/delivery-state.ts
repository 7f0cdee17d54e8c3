import type { DeliveryState } from 'countersign/protocol'
import type { Queries } from '../store/store.js'

const CHALLENGE = /^[\w-]{1,128}$/
const WORST_FIRST = ['refused', 'failed', 'expired', 'queued', 'sent', 'delivered']

/** The delivery state of a challenge's latest message, the worse one of the two of DUAL; `undefined` when there is none. */
export async function deliveryState(
  queries: Queries,
  application: string,
  challenge: string,
): Promise<DeliveryState | undefined> {
  if (!CHALLENGE.test(challenge)) return undefined
  const rows = await queries.query<{
    state: DeliveryState['status']
    channel: DeliveryState['channel']
    masked: string
    carrier: string | null
    updated_at: number
  }>(
    `SELECT state, channel, masked, carrier, updated_at FROM outbox
     WHERE application = $1 AND challenge = $2 AND created_at =
       (SELECT max(created_at) FROM outbox WHERE application = $1 AND challenge = $2)`,
    [application, challenge],
  )
  const [row] = rows.sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state))
  if (!row) return undefined
  const { state: status, channel, masked: to, carrier, updated_at: updatedAt } = row
  return { status, channel, to, ...(carrier !== null && { carrier }), updatedAt }
}
