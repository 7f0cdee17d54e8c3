import { randomBytes } from 'node:crypto'
import type { Sender } from '../../src/accounts/application.js'
import type { QueuedMessage } from '../../src/messages/delivery/queued-message.js'
import type { Channel, Message } from '../../src/messages/message.js'
import { codeMessage } from '../../src/messages/texts/compose.js'

export const VAULT: Sender & { readonly id: string } = { id: 'a', name: 'Vault', origin: undefined }

export const CODE = '012345'

/** A queued message with a code, to a recipient that fits the channel. */
export function message(channel: Channel, changes: Partial<QueuedMessage> = {}): QueuedMessage {
  const to = channel === 'email' ? 'zoe@example.com' : '+447700900123'
  const challenge = { code: CODE, purpose: 'sign-in', secondsLeft: 300 } as const
  return queued(codeMessage(VAULT, { channel, to, locale: 'en' }, challenge), changes)
}

/** The message as the outbox hands it to a carrier. */
export function queued(message: Message, changes: Partial<QueuedMessage> = {}): QueuedMessage {
  const times = { expiresAt: Date.now() + 300_000, leasedUntil: Date.now() + 15_000, attempts: 0, slot: 0 }
  return {
    ...message,
    id: randomBytes(16).toString('base64url'),
    application: VAULT.id,
    ...times,
    ...changes,
  }
}
