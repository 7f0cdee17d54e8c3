import type { Request } from 'express'
import type { LogIn, LogInOptions } from './passport-request.js'
import { deleteSession, fillRegenerated, type NewSessionContent } from './store.js'
import { detachSession, getSessionId } from './transport.js'

/** A call of `req.logIn`. */
export interface Login {
  readonly user: Express.User
  readonly options: LogInOptions
  readonly original: LogIn
}

interface NewSession extends NewSessionContent {
  /** Whether the host's own data in the session are kept, unless the login route says otherwise. */
  readonly keepSessionInfo: boolean
}

/** Has Passport create and save a new session that holds the record from the start. */
export async function regenerate(
  req: Request,
  { user, options, original }: Login,
  { keepSessionInfo, ...content }: NewSession,
): Promise<void> {
  const oldId = getSessionId(req)
  const oldDeleted = fillRegenerated(req, content)
  try {
    await new Promise<void>((resolve, reject) => {
      const passed = { ...options, keepSessionInfo: options.keepSessionInfo ?? keepSessionInfo }
      original.call(req, user, passed, (error) => (error ? reject(error) : resolve()))
    })
    await oldDeleted()
  } catch (error) {
    // The new session may be stored and already holds the record, and express-session would store it again when the response
    // ends (R09).
    if (getSessionId(req) !== oldId) void deleteSession(req, getSessionId(req))
    detachSession(req)
    throw error
  }
}
