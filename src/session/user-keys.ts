const MAX_LISTED_KEYS = 20

/** The names of a user's properties, without their values, so that a missing one is seen (R84). */
export function keysOf(user: Express.User): string {
  const keys = Object.keys(user)
  if (keys.length === 0) return 'it has no keys of its own'
  const listed = keys.slice(0, MAX_LISTED_KEYS).join(', ')
  return `it has the keys ${listed}${keys.length > MAX_LISTED_KEYS ? ' and more' : ''}`
}
