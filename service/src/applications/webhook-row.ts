import type { OwnWebhook } from '../application.js'

/** The columns of an application's webhook in a statement that joins its table. */
export const WEBHOOK_COLUMNS = 'url, channels, sealed, former, former_until'

/** The row of an application's webhook; all columns are `null` when it has none. */
export interface WebhookRow {
  readonly url: string | null
  readonly channels: OwnWebhook['channels'] | null
  readonly sealed: string | null
  readonly former: string | null
  readonly former_until: number | null
}

/** The webhook in a row; `undefined` when there is none. */
export function webhookFrom(row: WebhookRow | undefined): OwnWebhook | undefined {
  if (!row?.url || !row.channels || !row.sealed) return undefined
  const { url, channels, sealed, former, former_until: formerUntil } = row
  return {
    url,
    channels,
    sealed,
    ...(former && formerUntil && { former: { sealed: former, until: formerUntil } }),
  }
}
