import { setTimeout as wait } from 'node:timers/promises'

/**
 * Writes items together: those that come while a write is in progress wait for it, and then share the next one. Each call
 * resolves when its own item is written, and rejects when the write of its group fails. With `collectMs`, each write also waits
 * that long for more items, where nobody waits for the result.
 */
export function writeTogether<Item>(
  write: (items: readonly Item[]) => Promise<unknown>,
  { maxItems, collectMs = 0 }: { readonly maxItems: number; readonly collectMs?: number },
): (item: Item) => Promise<void> {
  let waiting: { readonly item: Item; resolve(): void; reject(error: unknown): void }[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      if (collectMs > 0) await wait(collectMs)
      const group = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      try {
        await write(group.map(({ item }) => item))
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    writing = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!writing) void writeAll()
    })
}
