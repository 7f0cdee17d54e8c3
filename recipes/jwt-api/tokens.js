import { createHash, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'

export const JWT = {
  key: Buffer.from(process.env.JWT_SECRET ?? 'only for development: 32 letters'),
  issuer: 'https://api.example.com',
  audience: 'mobile',
}

/** An access token with the claims of a login as they are, for ten minutes. */
export function signAccessToken(claims) {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(JWT.issuer)
    .setAudience(JWT.audience)
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(JWT.key)
}

// A table of your database, in a real app.
const stored = new Map()
const hashOf = (token) => createHash('sha256').update(token).digest('hex')

/** A refresh token for the login with these claims, for 30 days. */
export function createRefreshToken(claims) {
  const token = randomBytes(32).toString('base64url')
  stored.set(hashOf(token), { claims, endsAt: Date.now() + 30 * 24 * 60 * 60_000 })
  return token
}

/** The claims of a refresh token, which works once. */
export function takeRefreshToken(token) {
  const found = stored.get(hashOf(String(token)))
  stored.delete(hashOf(String(token)))
  return found && found.endsAt > Date.now() ? found.claims : undefined
}

/** Revokes the refresh tokens of a user, or of one login. */
export function revokeRefreshTokens({ userId, sessionId, exceptSessionId }) {
  for (const [hash, { claims }] of stored) {
    const isMeant = sessionId === undefined ? claims.sid !== exceptSessionId : claims.sid === sessionId
    if (claims.sub === userId && isMeant) stored.delete(hash)
  }
}
