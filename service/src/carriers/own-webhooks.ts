import type { LookupFunction } from 'node:net'
import type { OwnWebhook } from '../application.js'
import { type Carrier, DeliveryError } from '../delivery/carrier.js'
import type { Channel } from '../delivery/message.js'
import type { Logger } from '../log/logger.js'
import type { Keys } from '../secrets/keys.js'
import { open } from '../secrets/seal.js'
import { webhookIdentity } from '../secrets/seal-identity.js'
import { withBreaker } from './breaker.js'
import { logPause } from './log-pause.js'
import { ownWebhookAgent } from './own-webhook-address.js'
import { webhookCarrier } from './webhook.js'

/** The carriers of each channel that an application delivers to its own webhook. */
export type OwnCarriers = Readonly<Partial<Record<Channel, Carrier>>>

/** The webhooks of all applications as carriers, each with a circuit breaker of its own. */
export interface OwnWebhooks {
  carriersOf(application: string, webhook: OwnWebhook): OwnCarriers
}

/** Builds the carrier of a webhook when it is first needed, and again after it was changed. */
export function ownWebhooks(parts: {
  readonly keys: Keys
  readonly log: Logger
  /** Measures the carriers. */
  readonly timed: (carriers: OwnCarriers) => OwnCarriers
  /** Resolves names. Defaults to the system's resolver. */
  readonly lookup?: LookupFunction
}): OwnWebhooks {
  const { keys, log, timed, lookup } = parts
  const built = new Map<string, { readonly version: string; readonly carriers: OwnCarriers }>()

  function build(application: string, { url, channels, sealed, former }: OwnWebhook): OwnCarriers {
    const name = `webhook/${application}`
    const agent = ownWebhookAgent(url, lookup)
    const secretIn = (text: string) => open(keys, webhookIdentity(application), text)
    const formerSecret = former && secretIn(former.sealed)
    const carrier = agent
      ? webhookCarrier({ url, secret: secretIn(sealed), formerSecret, name, agent })
      : forbiddenCarrier(name)
    const measured = withBreaker(carrier, logPause(log))
    return timed(Object.fromEntries(channels.map((channel) => [channel, measured])))
  }

  return {
    carriersOf(application, { former, ...webhook }) {
      const current = former && former.until > Date.now() ? { ...webhook, former } : webhook
      const version = JSON.stringify(current)
      const known = built.get(application)
      if (known?.version === version) return known.carriers
      const carriers = build(application, current)
      built.set(application, { version, carriers })
      return carriers
    },
  }
}

/** For an address that was allowed when it was set: outside production, that of this machine. */
function forbiddenCarrier(name: string): Carrier {
  return {
    name,
    async deliver() {
      throw new DeliveryError('The address of the webhook is not allowed.', 'carrier')
    },
    async close() {},
  }
}
