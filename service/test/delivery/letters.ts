import { randomBytes } from 'node:crypto'
import type { Sender } from '../../src/application.js'
import type { Channel, Letter, Message } from '../../src/delivery/message.js'
import { codeMessage } from '../../src/message-texts/compose.js'

export const VAULT: Sender & { readonly id: string } = { id: 'a', name: 'Vault', origin: undefined }

export const CODE = '012345'

/** A letter with a code, to a recipient of the channel's kind. */
export function letter(channel: Channel, changes: Partial<Letter> = {}): Letter {
  const to = channel === 'email' ? 'zoe@example.com' : '+447700900123'
  const told = { code: CODE, purpose: 'sign-in', secondsLeft: 300 } as const
  return onItsWay(codeMessage(VAULT, { channel, to, locale: 'en' }, told), changes)
}

/** The message as the outbox hands it to a carrier. */
export function onItsWay(message: Message, changes: Partial<Letter> = {}): Letter {
  const times = { expiresAt: Date.now() + 300_000, heldUntil: Date.now() + 15_000, tries: 0 }
  return {
    ...message,
    id: randomBytes(16).toString('base64url'),
    application: VAULT.id,
    ...times,
    ...changes,
  }
}
