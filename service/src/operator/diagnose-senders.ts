import { senderRules, sendersIn } from '../applications/sender-settings.js'
import { parseStoredSettings } from '../applications/settings.js'
import type { Routes } from '../carriers/route.js'
import { unusedSenders } from '../carriers/unused-senders.js'
import type { Channel } from '../delivery/message.js'
import type { Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'

/** Reports settings for senders that none of the configured carriers can use. */
export async function diagnoseSenders(store: Store, routes: Routes): Promise<Diagnostic[]> {
  const rows = await store.query<{
    application: string
    settings: string
    channels: readonly Channel[] | null
  }>(
    `SELECT application, settings, channels FROM application
       LEFT JOIN application_webhook USING (application)
     WHERE settings::jsonb ?| $1::text[] ORDER BY application`,
    [Object.keys(senderRules)],
  )
  return rows.flatMap(({ application, settings, channels: own }) =>
    unusedSenders(withWebhook(routes, own ?? []), sendersIn(parseStoredSettings(settings))).map(
      ({ name, channels, configured }): Diagnostic => {
        const by = configured.length > 0 ? `is delivered by ${configured.join(' and ')}` : 'is not delivered'
        const message =
          `The setting ${name} of "${application}" has no effect: ${channels.join(' or ')} ${by}. ` +
          `Add a carrier that can use it to SERVICE_DELIVERY, or unset it: app settings ${application} --unset ${name}.`
        return { severity: 'warning', subject: 'carriers', message }
      },
    ),
  )
}

/** The routes of an application with a webhook of its own for these channels. */
function withWebhook(routes: Routes, channels: readonly Channel[]): Routes {
  const own = channels.map((channel) => [channel, [{ by: 'webhook', settings: { url: '' } }]] as const)
  return { ...routes, ...Object.fromEntries(own) }
}
