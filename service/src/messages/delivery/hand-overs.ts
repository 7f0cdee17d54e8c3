import { setTimeout as wait } from 'node:timers/promises'
import { messageLogFields, type QueuedMessage } from './queued-message.js'
import type { AttemptRecord, RecordOutcome } from './record-outcomes.js'

/** How many messages a process has in hand at most: without an answer yet, or not recorded yet. */
const MAX_IN_HAND = 10_000
const RETRY_MS = 250

/** Messages from when a carrier gets them until the store knows what became of them. What it accepted is not sent again. */
export interface HandOvers {
  /** Takes a message in hand. `false` when it is in hand already, or when there are too many. */
  begin(message: QueuedMessage): boolean
  /** Lets go of a message that no carrier accepted. */
  end(message: QueuedMessage): void
  /** Records that a carrier accepted a message, and lets go of it. Rejects when the first try fails; it is then repeated until it succeeds. */
  record(message: QueuedMessage, attempt: AttemptRecord, now: number): Promise<void>
  /** How many more messages may be taken in hand. */
  free(): number
  /** How many messages carriers accepted that are not recorded yet. */
  unrecorded(): number
  /** Waits at most so long until all is recorded, and returns the log fields of the messages that are not. */
  close(withinMs: number): Promise<readonly UnrecordedMessage[]>
}

type UnrecordedMessage = ReturnType<typeof logFields>

/** Messages in hand, whose outcome `record` writes. */
export function handOvers(record: RecordOutcome, maxInHand = MAX_IN_HAND): HandOvers {
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
    begin(message) {
      const key = keyOf(message)
      if (inHand.has(key) || inHand.size >= maxInHand) return false
      inHand.add(key)
      return true
    },
    end: (message) => void inHand.delete(keyOf(message)),
    async record(message, attempt, now) {
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
    free: () => maxInHand - inHand.size,
    unrecorded: () => unwritten.size,
    async close(withinMs) {
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
