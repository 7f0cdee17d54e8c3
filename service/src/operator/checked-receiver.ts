import { ownWebhookAgent } from '../messages/carriers/webhook.js'
import { DAY_MS } from '../time.js'
import { OperatorError } from './audited-change.js'

const MAX_URL_LENGTH = 1_000

/** How long a former secret still signs requests, so that the receiver can change to the new one. */
export const FORMER_SECRET_MS = DAY_MS

/** A receiver of requests, as an operator describes it, and what it can get. */
interface Receiver<Item> {
  /** Its name, such as `A webhook`. */
  readonly name: string
  readonly address: string
  /** The right that it gets, such as `channel`. */
  readonly kind: string
  readonly items: readonly string[]
  readonly known: readonly Item[]
  /** The path of an example. */
  readonly path: string
}

/** The address of a receiver, and what it gets. Throws an `OperatorError` that lists everything that is wrong with them. */
export function checkReceiver<Item extends string>({
  name,
  address,
  kind,
  items,
  known,
  path,
}: Receiver<Item>): { readonly url: URL; readonly items: readonly Item[] } {
  const faults = items
    .filter((item) => !known.some((name) => name === item))
    .map((item) => `"${item}" is not ${kind === 'event' ? 'an' : 'a'} ${kind}: use ${known.join(', ')}.`)
  if (items.length === 0) faults.push(`${name} needs ${kind}s: ${known.join(', ')}.`)
  if (address.length > MAX_URL_LENGTH || !ownWebhookAgent(address)) {
    faults.push(
      `The address of ${name.toLowerCase()} must be https://, on port 443 of a public host, without user and password. ` +
        `Outside production it can also be one of this machine, such as http://localhost:8080/${path}.`,
    )
  }
  if (faults.length > 0) throw new OperatorError(...faults)
  return { url: new URL(address), items: known.filter((item) => items.includes(item)) }
}
