import { createHash, randomBytes } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'

const KEY = Buffer.from(process.env.JWT_SECRET ?? 'only for development: 32 letters')
const CLAIMS = { issuer: 'https://api.example.com', audience: 'mobile', algorithms: ['HS256'] }

/** Access and refresh token of a login, whose claims go into the access token as they are; for a step-up, an access token alone. */
export async function issueTokens(claims, reason) {
  const accessToken = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(CLAIMS.issuer)
    .setAudience(CLAIMS.audience)
    .setExpirationTime('10m')
    .sign(KEY)
  if (reason === 'step-up') return { accessToken }
  const refreshToken = randomBytes(32).toString('base64url')
  stored.set(hashOf(refreshToken), claims)
  return { accessToken, refreshToken }
}

/** The payload of an access token. */
export async function readAccessToken(token) {
  return (await jwtVerify(token, KEY, CLAIMS)).payload
}

// A table of your database with the time of each token, in a real app.
const stored = new Map()
const hashOf = (token) => createHash('sha256').update(String(token)).digest('hex')

/** The claims of a refresh token, which works once. */
export function takeRefreshToken(token) {
  const claims = stored.get(hashOf(token))
  stored.delete(hashOf(token))
  return claims
}

/** Revokes the refresh tokens of a user, but for one login, or those of one login. */
export function revokeRefreshTokens({ userId, sessionId, exceptSessionId }) {
  for (const [hash, { sub, sid }] of stored) {
    const isMeant = sessionId === undefined ? sid !== exceptSessionId : sid === sessionId
    if (sub === userId && isMeant) stored.delete(hash)
  }
}
