import { setTimeout as wait } from 'node:timers/promises'
import { getRouteAddress } from '../routes/routes.js'
import { isPendingLogin } from './answer-tokens.js'
import { type AppRequest, attribute, decodeHtml, formHint, sendRequest } from './app-request.js'
import type { AppRoute } from './app-routes.js'
import {
  describeError,
  PAGE_HEADERS,
  type ProbeResponse,
  type ProbeResult,
  probeLogin,
} from './probe-login.js'
import { type ProbeAgent, runningApp } from './probed-app.js'

/** A running app, and what to request from it. */
export interface AppCheck {
  /** The address of the landing page. */
  readonly url: URL
  /** How to sign in with the first factor. */
  readonly signIn: AppRequest
  /** Paths that no anonymous request may use. */
  readonly protectedPaths: readonly string[]
  readonly routes: readonly AppRoute[]
  /** Paths of WebSocket servers. */
  readonly upgrades: readonly string[]
  /** Paths where a pending login may get another response than an anonymous request. */
  readonly pendingPaths: readonly string[]
  /** Headers to send with each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Where the plugin's routes are mounted. */
  readonly path: string
  /** How many routes to find by following links. */
  readonly maxRoutes: number
  readonly maxSeconds: number
}

/** The finding of the check at a route. */
export interface CheckedRoute extends AppRoute {
  readonly verdict: 'bypass' | 'unclear' | 'mfa' | 'refused' | 'public'
  readonly reason: string
  /** Whether a bypass follows only from two refusals that differ. */
  readonly differs?: true
}

/** The result of `checkApp`. */
export interface AppCheckReport {
  /** `unknown` if the check cannot tell: that is never `none`. */
  readonly outcome: 'none' | 'bypass' | 'unknown'
  /** Why the outcome is `unknown`. */
  readonly problems: readonly string[]
  /** The MFA status after the login; `undefined` if the login failed. */
  readonly status: string | undefined
  /** The names of the cookies after the login. */
  readonly cookies: readonly string[]
  /** Whether the login gives clients without cookies a reference, as `mfa.tokens.begin` does. */
  readonly reference: boolean
  readonly routes: readonly CheckedRoute[]
  /** Links that were not followed, and why. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[]
  /** The page that a user sees after the first factor; `undefined` if the login is not pending. */
  readonly page: SeenPage | undefined
}

const REQUEST_MS = 5_000
/** How long a service may take to start that runs in the process of the app. */
const SERVICE_START_MS = 60_000
const RETRY_MS = 500

/** Compares the responses to a pending login with those to an anonymous request, on the routes it finds by GET. */
export async function checkApp(check: AppCheck): Promise<AppCheckReport> {
  const { url, signIn, path, protectedPaths } = check
  const app = runningApp(url.origin, check.headers, { timeoutMs: REQUEST_MS, mount: path })
  const until = Date.now() + check.maxSeconds * 1_000
  const pages = signIn.method === 'GET' || signIn.page === undefined ? [] : [signIn.page]
  const paths = [`${url.pathname}${url.search}`, ...pages, ...protectedPaths]
  const all = [...paths.map(getOf), ...check.routes]
  const named = [...new Map(all.map((route) => [`${route.method} ${route.path}`, route])).values()]
  const links = listLinkedRoutes(named, check)
  try {
    const probed = await probeLogin(app, {
      name: 'login',
      login: (agent) => passFirstFactor(agent, signIn, url.origin),
      routes: links.routes,
      connections: check.upgrades.map((path) => ({ path: path })),
      pendingPaths: check.pendingPaths,
      path,
      running: { until, onPage: links.follow },
    })
    const routes = verdicts(probed.results, check)
    const problems = listProblems(probed, routes, check)
    const hasBypass = routes.some(({ verdict }) => verdict === 'bypass')
    const outcome = hasBypass ? 'bypass' : problems.length > 0 ? 'unknown' : 'none'
    return {
      outcome,
      problems,
      status: probed.status,
      cookies: probed.cookies,
      reference: probed.reference,
      routes,
      skipped: links.skipped(),
      page:
        probed.status === 'pending'
          ? await pageAfterSignIn(app.agent(), check, protectedPaths[0] ?? url.pathname).catch(
              () => undefined,
            )
          : undefined,
    }
  } catch (error) {
    const found = {
      status: undefined,
      cookies: [],
      reference: false,
      routes: [],
      skipped: [],
      page: undefined,
    }
    return { outcome: 'unknown', problems: [describeError(error)], ...found }
  }
}

/** Waits until the login of an app that has just started does not fail, as it may while a service starts in the same process. */
export async function awaitLogin({ url: { origin }, headers, signIn }: AppCheck): Promise<void> {
  const { agent } = runningApp(origin, headers, { timeoutMs: SERVICE_START_MS })
  const until = Date.now() + SERVICE_START_MS
  while (Date.now() < until) {
    const status = await sendRequest(agent(), signIn, origin).then(
      ({ status }) => status,
      () => 0,
    )
    if (status < 500) return
    await wait(RETRY_MS)
  }
}

/** @throws {Error} if the app refuses the login. */
async function passFirstFactor(agent: ProbeAgent, signIn: AppRequest, origin: string): Promise<void> {
  const { method, path } = signIn
  const answer = await sendRequest(agent, signIn, origin)
  const { status } = answer
  if (status < 400 || isPendingLogin(await answer.text())) return
  const remedy =
    status === 429
      ? 'The check signs in anew for each request: lift the limit of the login for it.'
      : `Check the path and the fields.${formHint(signIn)}`
  throw new Error(`Cannot sign in: ${method} ${path} responded with ${status}. ${remedy}`)
}

/** A page as a browser shows it. */
interface SeenPage {
  /** The requests that led to it, such as `GET / → 303 /mfa`. */
  readonly steps: readonly string[]
  readonly title: string
  readonly buttons: readonly string[]
}

const MOST_REDIRECTS = 5

/** Signs in with the first factor, opens a page as a browser does, and reads the page where that ends. */
async function pageAfterSignIn(
  agent: ProbeAgent,
  { signIn, url: { origin }, path: mount }: AppCheck,
  path: string,
): Promise<SeenPage> {
  await passFirstFactor(agent, signIn, origin)
  const steps: string[] = []
  for (let at = path; ; ) {
    const answer = await agent(at, { headers: PAGE_HEADERS })
    const location = answer.headers.get('Location')
    steps.push([`GET ${at} → ${answer.status}`, ...(location === null ? [] : [location])].join(' '))
    const to = location !== null && URL.canParse(location, origin) ? new URL(location, origin) : undefined
    if (to?.origin === origin && steps.length <= MOST_REDIRECTS) {
      await answer.body?.cancel()
      at = `${to.pathname}${to.search}`
      continue
    }
    const html = await answer.text()
    const [title = ''] = listContents(html, 'h1')
    const headers = { ...PAGE_HEADERS, Origin: origin }
    const { method, path: cancelPath } = getRouteAddress(mount, 'cancel')
    const signInPage = (await agent(cancelPath, { method, headers })).headers.get('Location')
    const { status } = await agent(signInPage ?? '/', { headers: PAGE_HEADERS })
    if (signInPage !== null && status >= 400)
      steps.push(`Cancel leads to ${signInPage} → ${status}: set login.signInPath`)
    return { steps, title, buttons: listContents(html, 'button') }
  }
}

function listContents(html: string, name: string): string[] {
  const elements = html.matchAll(new RegExp(`<${name}\\b[^>]*>([\\s\\S]*?)</${name}>`, 'gi'))
  const texts = [...elements].map(([, inner = '']) => decodeHtml(inner.replace(/<[^>]*>/g, ' ')))
  return texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter(Boolean)
}

/** The routes to request: those that are named, and those that their pages link to, within the origin, without signing out. */
function listLinkedRoutes(named: readonly AppRoute[], { url, path, maxRoutes }: AppCheck) {
  const routes = [...named]
  const skipped = new Map<string, string>()
  const seen = new Set(named.filter(({ method }) => method === 'GET').map((route) => route.path))
  const add = (target: string) => {
    const { pathname } = new URL(target, url.origin)
    if (seen.has(target) || pathname === path || pathname.startsWith(`${path}/`)) return
    if (isSignOut(pathname)) return void skipped.set(target, 'it looks like signing out')
    if (routes.length - named.length >= maxRoutes)
      return void skipped.set(target, `${maxRoutes} routes were found before it`)
    seen.add(target)
    routes.push(getOf(target))
  }
  return {
    routes,
    follow(from: string, page: ProbeResponse) {
      for (const target of findLinks(page, new URL(from, url.origin))) add(target)
    },
    skipped: () => [...skipped].map(([target, reason]) => ({ path: target, reason })),
  }
}

function isSignOut(path: string): boolean {
  return /(?:log|sign)[-_]?(?:out|off)\b/i.test(path)
}

/** The paths of this origin that a page links or redirects to. */
function findLinks({ isHtml, text, location }: ProbeResponse, { href: base, origin }: URL): string[] {
  const anchors = isHtml ? [...text.matchAll(/<a\b[^>]*>/gi)].map(([tag]) => attribute(tag, 'href')) : []
  return [location || undefined, ...anchors].flatMap((link) => {
    if (link === undefined || !URL.canParse(link, base)) return []
    const target = new URL(link, base)
    return target.origin === origin ? [`${target.pathname}${target.search}`] : []
  })
}

// The first one decides about a route that was requested in several ways.
const ORDER = ['bypass', 'unclear', 'mfa', 'refused', 'public'] as const

/** One verdict for each route. */
function verdicts(results: readonly ProbeResult[], { protectedPaths, signIn }: AppCheck): CheckedRoute[] {
  const routes = new Map<string, CheckedRoute>()
  const signInPage = signIn.page?.replace(/\?.*/, '')
  for (const result of results) {
    const { method, path } = result
    const key = `${method} ${path}`
    const isProtected = method === 'GET' && protectedPaths.includes(path)
    const isSignIn = !isProtected && method === 'GET' && path.replace(/\?.*/, '') === signInPage
    const judged = { method, path, ...(isSignIn ? SIGN_IN_PAGE : judgeRoute(result, isProtected)) }
    const known = routes.get(key)
    if (!known || ORDER.indexOf(judged.verdict) < ORDER.indexOf(known.verdict)) routes.set(key, judged)
  }
  return [...routes.values()]
}

const SIGN_IN_PAGE = { verdict: 'public', reason: 'it is the sign-in page' } as const

function judgeRoute(
  { verdict, reason, anonymous }: ProbeResult,
  isProtected: boolean,
): Omit<CheckedRoute, keyof AppRoute> {
  const status = anonymous?.status ?? 0
  if (verdict !== 'bypass' && isProtected && status >= 200 && status < 300) {
    return { verdict: 'bypass', reason: `it is named as protected, and an anonymous request gets ${status}` }
  }
  // Whatever the app does for a login without the second factor, it does not ask for it.
  if (verdict === 'differs') return { verdict: 'bypass', reason, differs: true }
  if (verdict === 'silent') return { verdict: 'unclear', reason }
  if (isProtected && status === 404) return { verdict: 'unclear', reason: 'an anonymous request gets 404' }
  return { verdict, reason }
}

/** The reasons that keep the check from saying that there is no bypass. */
function listProblems(
  { status, results, reference }: Awaited<ReturnType<typeof probeLogin>>,
  routes: readonly CheckedRoute[],
  { path, signIn, protectedPaths }: AppCheck,
): string[] {
  const problems: string[] = []
  if (status !== 'pending') {
    problems.push(
      `GET ${path} reports "${status}" instead of "pending" after the login. Check the password, that the user has a second factor, and where the plugin is mounted.${formHint(signIn)}`,
    )
  }
  const isProtected = ({ verdict, anonymous, path: requested }: ProbeResult) => {
    // A route of clients without cookies asks for a token, also while a login is pending.
    const isKept = verdict === 'mfa' || (reference && verdict === 'refused')
    if (!isKept || !anonymous) return false
    if (protectedPaths.includes(requested) || [401, 403].includes(anonymous.status)) return true
    const to = URL.canParse(anonymous.location, 'http://app')
      ? new URL(anonymous.location, 'http://app')
      : undefined
    return anonymous.status >= 300 && to?.pathname === signIn.page
  }
  if (!results.some(isProtected)) {
    problems.push('No protected page asked for the second factor. Name one with --protected.')
  }
  const unclear = routes.filter(({ verdict }) => verdict === 'unclear').length
  if (unclear > 0) problems.push(`${unclear} of the routes cannot be judged; the table says why.`)
  return problems
}

function getOf(path: string): AppRoute {
  return { method: 'GET', path }
}
