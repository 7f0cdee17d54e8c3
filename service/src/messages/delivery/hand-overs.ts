import { setTimeout as wait } from 'node:timers/promises'
import { messageLogFields, type QueuedMessage } from './queued-message.js'
import type { AttemptRecord, RecordOutcome } from './record-outcomes.js'

/** How many messages a process has in hand at most: without an answer yet, or not recorded yet. */
const MAX_IN_HAND = 10_000
const RETRY_MS = 250

type UnrecordedMessage = ReturnType<typeof logFields>

/** Messages from when a carrier gets them until the store knows what became of them, which `record` writes. None is sent twice. */
export function handOvers(record: RecordOutcome, maxInHand = MAX_IN_HAND) {
  const inHand = new Set<string>()
  const unwritten = new Map<string, UnrecordedMessage>()
  let ended = false

  async function repeat(write: () => Promise<void>, key: string): Promise<void> {
    while (!ended) {
      await wait(RETRY_MS, undefined, { ref: false })
      try {
        await write()
        unwritten.delete(key)
        inHand.delete(key)
        return
      } catch {
        // The first failure was reported.
      }
    }
  }

  return {
    /** Takes a message in hand. `false` when it is in hand already, or when there are too many. */
    begin(message: QueuedMessage): boolean {
      const key = keyOf(message)
      if (inHand.has(key) || inHand.size >= maxInHand) return false
      inHand.add(key)
      return true
    },
    /** Lets go of a message that no carrier accepted. */
    end: (message: QueuedMessage): void => void inHand.delete(keyOf(message)),
    /** Records that a carrier accepted a message, and lets go of it. Rejects when the first try fails; it is then repeated until it succeeds. */
    async record(message: QueuedMessage, attempt: AttemptRecord, now: number): Promise<void> {
      const key = keyOf(message)
      const { application, id, slot, leasedUntil } = message
      const write = () => record({ application, id, slot, leasedUntil }, 'sent', attempt, now)
      unwritten.set(key, logFields(message, attempt))
      try {
        await write()
        unwritten.delete(key)
        inHand.delete(key)
      } catch (error) {
        void repeat(write, key)
        throw error
      }
    },
    /** How many more messages may be taken in hand. */
    free: () => maxInHand - inHand.size,
    /** How many messages carriers accepted that are not recorded yet. */
    unrecorded: () => unwritten.size,
    /** Waits at most so long until all is recorded, and returns the log fields of the messages that are not. */
    async close(withinMs: number): Promise<readonly UnrecordedMessage[]> {
      const giveUpAt = performance.now() + withinMs
      while (unwritten.size > 0 && performance.now() < giveUpAt) await wait(RETRY_MS / 5)
      ended = true
      return [...unwritten.values()]
    },
  }
}

function keyOf({ application, id }: QueuedMessage): string {
  return `${application}/${id}`
}

function logFields(message: QueuedMessage, { carrier, carrierId }: AttemptRecord) {
  return {
    ...messageLogFields(message),
    ...(carrier !== null && { carrier }),
    ...(carrierId !== undefined && { carrierId }),
  }
}
