import type { Request, RequestHandler } from 'express'
import passport from 'passport'
import { Strategy } from 'passport-strategy'

/** A user of a naive app. */
export interface NaiveUser {
  readonly id: string
}

/** Whether a password is right: that of bob is `bob-password`. */
export const isRightPassword = (username: unknown, password: unknown) =>
  typeof username === 'string' && password === `${username}-password`

/** Signs in with a user name and a password. */
class PasswordStrategy extends Strategy {
  readonly name = 'local'
  override authenticate({ body }: Request): void {
    if (isRightPassword(body?.username, body?.password)) this.success({ id: body.username })
    else this.fail('wrong password', 401)
  }
}

/** A Passport instance of a naive app. */
export function naivePassport(): passport.Authenticator {
  const auth = new passport.Authenticator()
  auth.serializeUser<string>((user, done) => done(null, (user as object as NaiveUser).id))
  auth.deserializeUser<string>((id, done) => done(null, { id } as object as Express.User))
  return auth.use(new PasswordStrategy())
}

/** The sign-in page of a naive app. */
export const SIGN_IN_FORM =
  '<form method="post"><input name="username"><input name="password" type="password"></form>'

/** The key of the inbox of a naive app. */
export const NAIVE_INBOX_KEY = 'the-key-of-the-inbox'

/** Lists what an app has sent, to requests with the key. */
export const inboxWithKey =
  (messages: () => readonly object[]): RequestHandler =>
  ({ query }, res) =>
    query.key === NAIVE_INBOX_KEY ? res.json(messages()) : res.sendStatus(404)
