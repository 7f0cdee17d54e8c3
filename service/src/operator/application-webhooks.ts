import { randomBytes } from 'node:crypto'
import { readWebhook, WEBHOOK_COLUMNS, type WebhookRow } from '../accounts/applications/directory.js'
import { CHANNELS, type Channel } from '../messages/message.js'
import type { Keys } from '../store/secrets/keys.js'
import { seal, webhookIdentity } from '../store/secrets/seal.js'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'
import { checkReceiver, FORMER_SECRET_MS } from './checked-receiver.js'

const SECRET_BYTES = 32

/** The webhook of an application, without its secret. */
export interface WebhookSummary {
  /** Where messages are posted to. */
  readonly url: string
  /** The channels whose messages it gets. */
  readonly channels: readonly Channel[]
  /** Until when the former secret signs requests too, in milliseconds since 1970; `null` when there is none. */
  readonly formerSecretUntil: number | null
}

/** A webhook as an operator sets it. */
export interface NewWebhook {
  /** An https address of a public host. */
  readonly url: string
  /** The channels whose messages it gets. */
  readonly channels: readonly string[]
}

/** Shows the webhook of an application, without its secret. */
export async function showWebhook(
  { store }: Actor,
  application: string,
): Promise<WebhookSummary | undefined> {
  await mustExist(store, application)
  const [row] = await store.query<WebhookRow>(
    `SELECT ${WEBHOOK_COLUMNS} FROM application_webhook WHERE application = $1`,
    [application],
  )
  const webhook = readWebhook(row)
  if (!webhook) return undefined
  const { url, channels, former } = webhook
  const formerUntil = former && former.until > Date.now() ? former.until : null
  return { url, channels, formerSecretUntil: formerUntil }
}

/** Sets the webhook of an application. */
export async function setWebhook(
  actor: Actor,
  application: string,
  given: NewWebhook,
): Promise<{ readonly secret?: string }> {
  const { url, items: channels } = checkReceiver({
    ...{ name: 'A webhook', address: given.url, kind: 'channel', path: 'messages' },
    ...{ items: given.channels, known: CHANNELS },
  })
  const secret = newSecret()
  const sealed = sealSecret(actor.keys(), application, secret)
  const [row] = await changeRows<{ sealed: string }>(actor, {
    ...{ application, action: 'webhook.set', detail: `${url.origin}${url.pathname} ${channels.join(',')}` },
    sql: `INSERT INTO application_webhook AS known (application, url, channels, sealed, changed_at)
      VALUES ($1, $2, $3::text[], $4, $5)
      ON CONFLICT (application) DO UPDATE SET url = $2, channels = $3::text[], changed_at = $5
      RETURNING sealed`,
    values: [application, url.href, channels, sealed, Date.now()],
  })
  return row?.sealed === sealed ? { secret } : {}
}

/** Gives the webhook of an application a new secret. */
export async function rotateWebhookSecret(
  actor: Actor,
  application: string,
): Promise<{ readonly secret: string }> {
  const secret = newSecret()
  const sealed = sealSecret(actor.keys(), application, secret)
  await changeRows(actor, {
    ...{
      application,
      action: 'webhook.secret_rotated',
      detail: '',
      otherwise: describeMissingWebhook(application),
    },
    sql: `UPDATE application_webhook SET former = sealed, former_until = $3, sealed = $2, changed_at = $4
      WHERE application = $1 RETURNING url`,
    values: [application, sealed, Date.now() + FORMER_SECRET_MS, Date.now()],
  })
  return { secret }
}

/** Removes the webhook of an application. */
export async function removeWebhook(actor: Actor, application: string): Promise<void> {
  await changeRows(actor, {
    ...{ application, action: 'webhook.removed', detail: '', otherwise: describeMissingWebhook(application) },
    sql: 'DELETE FROM application_webhook WHERE application = $1 RETURNING url',
    values: [application],
  })
}

function describeMissingWebhook(application: string): string {
  return `The application "${application}" has no webhook: set one first.`
}

function newSecret(): string {
  return `mfa_webhook_${randomBytes(SECRET_BYTES).toString('base64url')}`
}

function sealSecret(keys: Keys, application: string, secret: string): string {
  return seal(keys, webhookIdentity(application), secret)
}
