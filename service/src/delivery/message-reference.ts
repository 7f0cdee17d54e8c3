import type { QueuedMessage } from './message.js'

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
