import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import type { VaultContext } from '../context.js'
import { readBody } from '../http/body.js'
import { answerProblem } from '../http/errors.js'
import { frameOf } from '../http/frame.js'
import { localPath } from '../http/local-path.js'
import { wantsJson } from '../http/negotiate.js'
import { Problem } from '../http/problem.js'
import { logIn } from '../log-in.js'
import { COMPANY_SIGN_IN } from '../mfa.js'
import type { VaultPassport } from '../passport.js'
import type { VaultUser } from '../store/users.js'
import { type SignInView, signInPage } from '../views/sign-in-page.js'

const credentials = z.object({
  username: z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(100)
    // PostgreSQL accepts no NUL, and no name contains control characters.
    .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, { error: 'must not hold control characters' }),
  password: z.string({ error: 'must be text' }).min(1, { error: 'must not be empty' }).max(200),
})

/** `GET /login`, `POST /login`, `POST /logout` */
export function signInRoutes(context: VaultContext, passport: VaultPassport): Router {
  const { config, seedUsers, signInFailures } = context
  const companySignIn = config.identityProvider && COMPANY_SIGN_IN
  const router = Router()

  function page(req: Request, view: Partial<SignInView>) {
    const isPending = req.mfa?.status === 'pending'
    return signInPage({ isPending, seedUsers, companySignIn, frame: frameOf(req, context), ...view })
  }

  router.get('/login', (req, res) => {
    if (req.user) return res.redirect(303, '/')
    const person = seedUsers.find(({ username }) => username === req.query.as)
    res.send(page(req, { username: person?.username, password: person?.password }))
  })

  router.post('/login', async (req, res) => {
    const refuse = (problem: Problem) => {
      if (wantsJson(req)) return answerProblem(req, res, problem)
      if (problem.retryAfterSeconds) res.set('Retry-After', String(problem.retryAfterSeconds))
      const username = typeof req.body?.username === 'string' ? req.body.username.slice(0, 100) : undefined
      res
        .status(problem.status)
        .send(page(req, { username, message: { tone: 'error', text: problem.detail } }))
    }
    const { username } = readBody(req, credentials)
    const address = req.ip ?? ''
    const wait = await signInFailures.waitSeconds(username, address)
    if (wait > 0) return refuse(new Problem('too_many_attempts', waitText(wait), wait))

    const user = await passwordOwner(passport, req, res)
    if (!user) {
      await signInFailures.record(username, address)
      return refuse(new Problem('invalid_credentials', 'The user name or the password is wrong.'))
    }
    await signInFailures.forget(username, address)

    // Passport empties the session at a login, so the return address is read before.
    const target = localPath(req.session.returnTo)
    const { status, next } = await logIn(req, user, target)
    if (wantsJson(req)) res.json({ status, next })
    else res.redirect(303, next)
  })

  router.post('/logout', async (req, res) => {
    await new Promise<void>((resolve, reject) =>
      req.session.destroy((error: unknown) => (error ? reject(error) : resolve())),
    )
    res.clearCookie('vault.sid')
    if (wantsJson(req)) res.json({ status: 'signed_out', next: '/' })
    else res.redirect(303, '/')
  })

  return router
}

/** The user with this name and password, by the local strategy. Does not sign the user in. */
function passwordOwner(passport: VaultPassport, req: Request, res: Response): Promise<VaultUser | undefined> {
  return new Promise((resolve, reject) => {
    const done = (error: unknown, user: VaultUser | false | null) =>
      error ? reject(error) : resolve(user || undefined)
    passport.authenticate('local', done)(req, res, reject)
  })
}

function waitText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return `Too many wrong passwords. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
}
