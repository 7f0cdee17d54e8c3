import { randomBytes } from 'node:crypto'
import express, { type Express } from 'express'
import session, { MemoryStore } from 'express-session'
import { createMfa } from '../../src/index.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { type NaiveUser, naivePassport, SIGN_IN_FORM } from '../naive-apps/passwords.js'

declare module 'express-session' {
  interface SessionData {
    csrf?: string
    flash?: string | undefined
  }
}

interface RightApp {
  /** Mounts routes between the gate and those that need a sign-in. */
  readonly routes?: (app: Express) => void
  /** Where users sign in, if not at `/login`. */
  readonly signInPath?: `/${string}`
  /** Whether the plugin is told so. Defaults to yes. */
  readonly isSignInPathSet?: boolean
  /** The path to which the form of that page is posted, if not its own. */
  readonly action?: string
  /** Whether its form has a CSRF token. */
  readonly hasToken?: boolean
  /** The text of the first page after the login. */
  readonly flash?: string
  /** Whether the pages are rendered before the gate, as those of an app whose gate is mounted too late. */
  readonly isLate?: boolean
}

/** An app in which bob signs in with `bob-password` and a code by email. */
export function rightApp({
  routes,
  signInPath = '/login',
  hasToken,
  flash,
  isLate,
  ...form
}: RightApp): Express {
  const { action = signInPath } = form
  const kit = mfaTestKit()
  const mfa = createMfa<NaiveUser>({
    service: kit.service,
    factors: ({ id }) => [{ method: 'email', email: `${id}@example.com` }],
    logger: { warn: () => {}, error: () => {} },
    login: {
      ...(form.isSignInPathSet !== false && { signInPath }),
      pendingPaths: ['/about', '/contact', '/auth'],
    },
  })
  const auth = naivePassport()
  const app = express()
  app.use(
    session({ secret: 'right', resave: false, saveUninitialized: false, store: new MemoryStore() }),
    auth.session(),
  )
  if (!isLate) app.use(mfa.router)
  app.use(express.urlencoded({ extended: false }))
  app.get(signInPath, ({ session }, res) => {
    session.csrf ??= randomBytes(16).toString('hex')
    const token = hasToken ? `<input type="hidden" name="_csrf" value="${session.csrf}">` : ''
    res.send(SIGN_IN_FORM.replace('<form method="post">', `<form method="post" action="${action}">${token}`))
  })
  app.post(
    action,
    (req, res, next) =>
      !hasToken || (req.session.csrf && req.body._csrf === req.session.csrf) ? next() : res.sendStatus(403),
    auth.authenticate('local', { failureRedirect: signInPath }),
    (req, res) => {
      req.session.flash = flash
      res.redirect('/')
    },
  )
  const page = (title: string): express.RequestHandler =>
    function show({ session: kept, user }, res) {
      const message = kept.flash === undefined ? '' : `<p class="flash">${kept.flash}</p>`
      delete kept.flash
      const name = isLate && user ? `<p>${(user as object as NaiveUser).id}</p>` : ''
      res.send(`<h1>${title}</h1>${message}${name}<a href="/contact">Contact</a> <a href="/about">About</a>`)
    }
  app.get('/about', page('About'))
  app.get('/contact', page('Contact'))
  routes?.(app)
  if (isLate) app.use(mfa.router)
  app.get('/', (req, res) => {
    if (!req.user) return void res.redirect(signInPath)
    res.send('<a href="/about">About</a> Your account')
  })
  return app
}
