/**
 * A function that keeps what it made for each key, such as the `Intl` object for a locale, which costs more than rendering a
 * page. Use it only where there are few keys, such as the locales of the catalogues: nothing is ever removed.
 */
export function memoized<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
