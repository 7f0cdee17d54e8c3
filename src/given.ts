/** An object without what is `undefined`: to somebody who reads an environment variable that means "not given". */
export function onlyGiven<Value>(object: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  )
}
