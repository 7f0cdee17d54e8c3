import type { Request } from 'express'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { clientNetwork } from '../../contacts/client-network.js'
import { checkSignIn } from '../../operator/check-sign-in.js'
import { findOperator, type OperatorAccount } from '../../operator/operator-account.js'
import type { ConsoleParts } from '../parts.js'

/** How long a session lasts from the password on, however it is used. */
export const SESSION_MS = 12 * 3_600_000

/** An operator in a session that began at a time. */
interface SessionOperator extends OperatorAccount {
  readonly signedInAt?: number
}

/** Passport with the passwords of operators. */
export function consolePassport({ store }: Pick<ConsoleParts, 'store'>) {
  const own = new passport.Passport()
  own.use(
    new LocalStrategy(
      { usernameField: 'email', passReqToCallback: true },
      (request: Request, email: string, password: string, done) => {
        const network = clientNetwork(request.ip ?? '')
        checkSignIn(store, { email, password, network }).then((result) => {
          if (result.outcome === 'accepted') return done(null, asUser(result.operator))
          return done(null, false, { message: result.outcome })
        }, done)
      },
    ),
  )
  // A step-up logs in again; it keeps the time of the password.
  own.serializeUser((user, done) => {
    const { email, version, signedInAt = Date.now() } = operatorOf(user)
    done(null, JSON.stringify([email, version, signedInAt]))
  })
  own.deserializeUser((kept: unknown, done) => {
    const [email, version, signedInAt] = JSON.parse(String(kept)) as [string, number, number]
    if (Date.now() - signedInAt >= SESSION_MS) return done(null, false)
    findOperator(store, email).then((found) => {
      // A new password and a disabled account end all sessions.
      if (found?.version !== version) return done(null, false)
      const operator: SessionOperator = { ...found, signedInAt }
      return done(null, asUser(operator))
    }, done)
  })
  return own
}

/** An instance of Passport, separate from the one that `import passport` shares. */
export type ConsolePassport = ReturnType<typeof consolePassport>

/** The operator behind `request.user`, whose type an app that embeds the service may have extended. */
export function operatorOf(user: object): SessionOperator {
  return user as SessionOperator
}

function asUser(operator: object): Express.User {
  return operator as Express.User
}
