import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import session from 'express-session'
import { html } from '../html.js'
import { mustExist } from '../operator/applications.js'
import { SESSION_MS } from '../operator/external-operators.js'
import { isAtLeast } from '../operator/rights.js'
import { isProduction } from '../process/production.js'
import { StoreUnavailableError } from '../store/outages.js'
import { listKeys } from '../store/secrets/keys.js'
import { describeError } from '../telemetry/log/logger.js'
import { ConsoleError, readForm, readOrNotFound } from './form.js'
import { type PageRoute, type PublicRoute, serveAssets } from './page.js'
import { KEY_ROUTES } from './pages/api-keys.js'
import { APPLICATION_ROUTES } from './pages/applications.js'
import { AUDIT_ROUTES } from './pages/audit.js'
import { CONSENT_ROUTES } from './pages/consents.js'
import { EVENT_ENDPOINT_ROUTES, EVENT_ROUTES } from './pages/events.js'
import { HEALTH_ROUTES } from './pages/health.js'
import { INBOX_ROUTES } from './pages/inbox.js'
import { LOCKED_ROUTES } from './pages/locked.js'
import { SINGLE_MESSAGE_ROUTES } from './pages/message.js'
import { MESSAGE_ROUTES } from './pages/messages.js'
import { NUMBER_ROUTES } from './pages/numbers.js'
import { OPERATOR_ROUTES } from './pages/operators.js'
import { OVERVIEW_ROUTES } from './pages/overview.js'
import { SEARCH_ROUTES } from './pages/search.js'
import { SETTINGS_ROUTES } from './pages/settings.js'
import { TRAFFIC_ROUTES } from './pages/traffic.js'
import { USER_ROUTES } from './pages/users.js'
import { WEBHOOK_ROUTES } from './pages/webhook.js'
import type { ConsoleParts } from './parts.js'
import { refuseNul, requireSameOrigin, requireTls, securityHeaders } from './security.js'
import { sendPage } from './send-page.js'
import { StoredSessions } from './session-store.js'
import { consoleMfa, consolePassport, getOperator } from './sign-in/console-mfa.js'
import { oidcRoutes } from './sign-in/oidc.js'
import { INVITATION_ROUTES, SIGN_IN_ROUTES, signInHandler, signOutHandler } from './sign-in/sign-in-routes.js'

const MAX_BODY = '64kb'

/** How recent the second factor must be for routes that show or change a secret. */
const STEP_UP = { maxAge: '10m', minStrength: 'strong' } as const

/** The console as an Express application, for the path `/console` of its server. */
export function createConsole(parts: ConsoleParts): Express {
  const { log } = parts
  const mfa = consoleMfa(parts)
  const passport = consolePassport(parts)
  const app = express()
  app.disable('x-powered-by')
  app.set('query parser', 'simple')
  app.set('trust proxy', parts.trustedProxies)
  app.use(parts.observeRequests)
  app.use(securityHeaders, requireTls)
  serveAssets(app)
  app.use(requireSameOrigin)
  app.use(consoleSession(parts))
  app.use(passport.session())
  app.use(mfa.session)
  app.use('/console/mfa', mfa.router)
  app.use(express.urlencoded({ extended: false, limit: MAX_BODY }), refuseNul)

  app.post('/console/sign-in', signInHandler(parts, passport))
  app.post('/console/sign-out', signOutHandler)
  for (const { method, path, handle } of parts.oidc ? oidcRoutes(parts, parts.oidc) : [])
    app[method](path, handle)
  for (const { method, path, handle } of PUBLIC_ROUTES) {
    app[method](path, async (request, response) => {
      sendPage(response, await handle(request, response, parts), undefined)
    })
  }
  const stepUp = mfa.requireMfa(STEP_UP)
  for (const path of POST_ONLY) app.get(path, leadToPage)
  for (const route of PAGE_ROUTES) addPage(app, route, parts, stepUp)

  app.use((_request, _response, next) => next(new ConsoleError(404, 'There is no page at this address.')))
  app.use(errorHandler(log))
  return app
}

function consoleSession({ store, keys }: ConsoleParts): RequestHandler {
  return session({
    // Browsers accept a cookie with this prefix only over TLS, for this host only.
    name: isProduction() ? '__Host-console' : 'console',
    secret: listKeys(keys).map((key) => key.console.export().toString('base64url')),
    store: new StoredSessions(store, SESSION_MS),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto', path: '/', maxAge: SESSION_MS },
  })
}

/** Adds a page behind sign-in, role and, where it is required, a fresh second factor, in this order. */
function addPage(
  app: Express,
  { method, path, least, stepUp: needsStepUp = false, handle }: PageRoute,
  parts: ConsoleParts,
  stepUp: RequestHandler,
): void {
  const checkRole: RequestHandler = (request, response, next) => {
    if (!request.user || request.mfa?.status !== 'verified') {
      if (request.method === 'GET') request.session.returnTo = request.originalUrl
      return response.redirect(303, '/console/sign-in')
    }
    if (isAtLeast(getOperator(request.user).role, least)) return next()
    next(new ConsoleError(403, `This needs the role ${least}. Ask an administrator.`))
  }
  const show: RequestHandler = async (request, response) => {
    const account = getOperator(request.user ?? {})
    const operator = parts.operator(account.email)
    const form = readForm(request.body)
    const application = String(request.params.application ?? '')
    if (application !== '') await readOrNotFound(() => mustExist(parts.store, application), NO_APPLICATION)
    sendPage(response, await handle({ request, parts, account, operator, application, form }), account)
  }
  app[method](path, checkRole, ...(needsStepUp ? [stepUp] : []), show)
}

const NO_APPLICATION = 'There is no application of this name.'

/** Leads from the address to which a form of a page was posted to the page, with its filters. */
const leadToPage: RequestHandler = ({ path, originalUrl }, response) =>
  response.redirect(303, path.replace(/\/[^/]+\/?$/, '') + (/\?.*/.exec(originalUrl)?.[0] ?? ''))

function errorHandler(log: ConsoleParts['log']): ErrorRequestHandler {
  return function respondToError(error: unknown, request, response, next) {
    if (response.headersSent) return next(error)
    const { status, text } = describe(error)
    if (status >= 500) log({ level: 'error', event: 'console.failed', detail: describeError(error) })
    const account = request.mfa?.status === 'verified' && request.user && getOperator(request.user)
    const main = html`<p>${text}</p><p><a href="/console">To the console</a></p>`
    const page = { title: TITLES[status] ?? 'Not possible', status, main }
    sendPage(response, page, account || undefined)
  }
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  500: 'Something went wrong',
  503: 'Not available right now',
}

/** The text of the page about an error, without internals (R84). */
function describe(error: unknown): { readonly status: number; readonly text: string } {
  if (error instanceof ConsoleError) return { status: error.status, text: error.message }
  if (error instanceof StoreUnavailableError) {
    return { status: 503, text: 'The database cannot be reached. Try again in a moment.' }
  }
  const status = (error as { status?: unknown } | null)?.status
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return { status, text: 'The request could not be read.' }
  }
  return { status: 500, text: 'The log has the details.' }
}

/** Every route for signed-in operators, each with the least role that may use it. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...OVERVIEW_ROUTES,
  ...APPLICATION_ROUTES,
  ...SETTINGS_ROUTES,
  ...KEY_ROUTES,
  ...SEARCH_ROUTES,
  ...USER_ROUTES,
  ...LOCKED_ROUTES,
  ...MESSAGE_ROUTES,
  ...SINGLE_MESSAGE_ROUTES,
  ...NUMBER_ROUTES,
  ...TRAFFIC_ROUTES,
  ...WEBHOOK_ROUTES,
  ...EVENT_ROUTES,
  ...EVENT_ENDPOINT_ROUTES,
  ...INBOX_ROUTES,
  ...CONSENT_ROUTES,
  ...AUDIT_ROUTES,
  ...HEALTH_ROUTES,
  ...OPERATOR_ROUTES,
]

/** The paths of actions on a page, which a browser opens when its address is entered again or a link begins with `?`. */
const POST_ONLY = PAGE_ROUTES.map(({ path }) => path).filter(
  (path) => !PAGE_ROUTES.some((route) => route.path === path && route.method === 'get'),
)

/** The routes that need no sign-in. */
export const PUBLIC_ROUTES: readonly PublicRoute[] = [...SIGN_IN_ROUTES, ...INVITATION_ROUTES]
