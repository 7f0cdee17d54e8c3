/** How many values a process remembers for one purpose. */
const MOST = 10_000

/** Keeps a value under a name in this process, as the newest one. The oldest of too many is forgotten. */
export function remember<Value>(map: Map<string, Value>, name: string, value: Value): Value {
  map.delete(name)
  map.set(name, value)
  const [oldest] = map.keys()
  if (map.size > MOST && oldest !== undefined) map.delete(oldest)
  return value
}
