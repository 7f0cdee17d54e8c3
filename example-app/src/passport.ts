import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import type { VaultContext } from './context.js'
import type { VaultUser } from './store/users.js'

declare global {
  namespace Express {
    interface User extends VaultUser {}
  }
}

/** Passport with Vault's own password strategy and the second factor of countersign. */
export function vaultPassport({ users, mfa }: VaultContext) {
  const vault = new passport.Passport()

  vault.use(
    new LocalStrategy((username, password, done) => {
      users.signIn(username, password).then((user) => done(null, user ?? false), done)
    }),
  )
  vault.use(mfa.strategy)

  // With the version in the session, a new password ends all sessions and pending logins that the old one started.
  vault.serializeUser((user, done) => done(null, `${user.id}.${user.passwordVersion}`))
  vault.deserializeUser((kept: unknown, done) => {
    const [id, version] = String(kept).split('.').map(Number)
    users
      .find(id ?? Number.NaN)
      .then((user) => done(null, user?.passwordVersion === version ? user : false), done)
  })
  return vault
}

/** An instance of Passport, separate from the one that `import passport` shares. */
export type VaultPassport = ReturnType<typeof vaultPassport>
