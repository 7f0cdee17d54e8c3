import { createHash, randomBytes } from 'node:crypto'
import { Injectable } from '@nestjs/common'
import type { TokenClaims, TokenEnd, TokenReason } from 'countersign'
import { sign, verify } from 'jsonwebtoken'

const KEY = process.env.JWT_SECRET ?? 'only for development: 32 letters'
const ISSUER = 'https://api.example.com'

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

/** The app's own tokens. */
@Injectable()
export class TokensService {
  // A table of your database with the time of each token, in a real app.
  private readonly stored = new Map<string, TokenClaims>()

  /** The tokens of a login, whose claims go into the access token as they are. A step-up gets an access token alone. */
  issue(claims: TokenClaims, reason: TokenReason = 'login') {
    const accessToken = sign({ ...claims }, KEY, { issuer: ISSUER, expiresIn: '10m' })
    if (reason === 'step-up') return { accessToken }
    const refreshToken = randomBytes(32).toString('base64url')
    this.stored.set(hashOf(refreshToken), claims)
    return { accessToken, refreshToken }
  }

  /** The payload of an access token; `undefined` for one that is not valid. */
  read(token: string): object | undefined {
    try {
      return verify(token, KEY, { issuer: ISSUER, algorithms: ['HS256'] })
    } catch {
      return undefined
    }
  }

  /** The claims of a refresh token, which works once. */
  takeRefreshToken(token: string): TokenClaims | undefined {
    const claims = this.stored.get(hashOf(token))
    this.stored.delete(hashOf(token))
    return claims
  }

  /** Revokes the refresh tokens of a user, but for one login, or those of one login. */
  revoke({ userId, sessionId, exceptSessionId }: TokenEnd): void {
    for (const [hash, { sub, sid }] of this.stored) {
      const isMeant = sessionId === undefined ? sid !== exceptSessionId : sid === sessionId
      if (sub === userId && isMeant) this.stored.delete(hash)
    }
  }
}
