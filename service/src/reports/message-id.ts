import { parseReference } from '../delivery/message-reference.js'

/** The message whose `Message-ID` this is, with or without angle brackets; `undefined` when it is not one of ours. */
export function messageOfId(messageId: unknown): ReturnType<typeof parseReference> {
  const [, reference] = typeof messageId === 'string' ? (/^<?([^@<>]+)@[^@<>]+>?$/.exec(messageId) ?? []) : []
  return parseReference(reference)
}
