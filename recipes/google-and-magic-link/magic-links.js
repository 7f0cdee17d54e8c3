import { createHash, randomBytes } from 'node:crypto'

const LIFETIME_MS = 15 * 60_000

/** Links by the hash of their token. A real app keeps them in its database. */
const links = new Map()

const hashOf = (token) => createHash('sha256').update(token).digest('base64url')

/** A token that signs the user in once, within 15 minutes. */
export function issueToken(userId) {
  const token = randomBytes(32).toString('base64url')
  links.set(hashOf(token), { userId, expiresAt: Date.now() + LIFETIME_MS })
  return token
}

/** The user whose token this is. The token is consumed before it is evaluated, so it works once. */
export function redeemToken(token) {
  const hash = hashOf(token)
  const link = links.get(hash)
  links.delete(hash)
  return link && link.expiresAt > Date.now() ? link.userId : undefined
}
