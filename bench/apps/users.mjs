import { Strategy } from 'passport-strategy'

/** The user with an id like `u12`: every app of the benchmarks knows them all. */
export function findUser(id) {
  const digits = id.slice(1).padStart(8, '0')
  return { id, email: `${id}@example.com`, phone: `+4477${digits}`, totpKey: `totp key of ${id}` }
}

/** The first factor of every app: signs in the user whose id is in the body, since no benchmark measures passwords. */
export class IdStrategy extends Strategy {
  name = 'id'

  authenticate(req) {
    const { id } = req.body ?? {}
    if (typeof id === 'string') this.success(findUser(id))
    else this.fail('The body has no id.', 400)
  }
}

/** Has Passport keep the user's id in the session, and finds the user by it without waiting. */
export function configurePassport(passport) {
  passport.serializeUser((user, done) => done(null, user.id))
  passport.deserializeUser((id, done) => done(null, findUser(id)))
  passport.use(new IdStrategy())
  return passport
}
