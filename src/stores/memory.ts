import { hourly, type ItemStore, type StoredItem } from './store.js'

/** A store in the memory of this process. Its items are lost when the process ends. */
export function memoryStore(): ItemStore {
  const owners = new Map<string, Map<string, StoredItem>>()
  const sweep = hourly((now) => {
    for (const [owner, items] of owners) {
      for (const { id, expiresAt } of items.values()) if (expiresAt <= now) items.delete(id)
      if (items.size === 0) owners.delete(owner)
    }
  })

  return {
    read: async (owner) => [...(owners.get(owner)?.values() ?? [])],

    async add(owner, item) {
      sweep()
      const items = owners.get(owner) ?? new Map<string, StoredItem>()
      const earlier = items.get(item.id)
      if (earlier && earlier.expiresAt > Date.now()) return false
      owners.set(owner, items.set(item.id, item))
      return true
    },

    async put(owner, item) {
      sweep()
      const items = owners.get(owner) ?? new Map<string, StoredItem>()
      owners.set(owner, items.set(item.id, item))
    },

    async swap(owner, id, before, value) {
      const items = owners.get(owner)
      const item = items?.get(id)
      if (!items || item?.value !== before) return false
      items.set(id, { ...item, value })
      return true
    },

    async remove(owner, id) {
      const items = owners.get(owner)
      const wasThere = items?.delete(id) ?? false
      if (items?.size === 0) owners.delete(owner)
      return wasThere
    },
  }
}
