import type { Request } from 'express'
import { readUserId } from '../../session/user-factors.js'
import type { RouteDeps } from '../actions/context.js'
import { reportEnd } from './answer.js'
import { readClaims } from './claims.js'

/** Functions for the ends of tokens. */
export interface TokenAccount<User> {
  /**
   * Ends the tokens and pending logins of a user, except those of the login whose token the request has. Call it when the password
   * changes; a session goes on under another id with `renewSession`. Needs the option `tokens`. @throws {TypeError | TrustStoreError}
   */
  endTokens(req: Request, user: User): Promise<void>
  /** Whether the tokens with these claims, such as those of a stored refresh token, have ended. @throws {TypeError | TrustStoreError} */
  isEnded(claims: object): Promise<boolean>
}

/** Creates the account functions for tokens. */
export function createTokenAccount(deps: RouteDeps): TokenAccount<Express.User> {
  const requireTokens = (name: string) => {
    if (deps.tokens) return deps.tokens
    throw new TypeError(`account.${name} needs the option tokens, for its store. Give tokens.`)
  }
  return {
    async endTokens(req, user) {
      const tokens = requireTokens('endTokens')
      const { generations, options } = tokens
      const userId = readUserId(user, deps.settings)
      const payload = options.claims(req)
      const claims = payload ? await readClaims(tokens, payload, req) : undefined
      const isOwn = claims?.userId === userId && claims.generation !== undefined
      const isSpared = isOwn && !(await generations.read(userId)).hasEnded(claims)
      const sid = isSpared ? claims.sid : undefined
      await generations.rise(userId, sid)
      await Promise.all([deps.approvalRequests.closeAll(userId), deps.tokenPlaces.closeAll(userId)])
      const spared = sid === undefined ? {} : { exceptSessionId: sid }
      await reportEnd(tokens, { userId, ...spared, reason: 'new_password' })
    },
    async isEnded(payload) {
      const tokens = requireTokens('isEnded')
      const claims = await readClaims(tokens, payload)
      return !claims || (await tokens.generations.recent(claims.userId)).hasEnded(claims)
    },
  }
}
