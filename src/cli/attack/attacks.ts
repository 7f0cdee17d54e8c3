import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { findTokens } from '../../probe/answer-tokens.js'
import { checkApp } from '../../probe/app-check.js'
import type { AppRequest } from '../../probe/app-request.js'
import { exchangeTokens } from '../../probe/exchanged-tokens.js'
import type { Cookies, ProbeAgent } from '../../probe/probed-app.js'
import { reaches, STRENGTHS } from '../../protocol/factor.js'
import type { Operation } from '../../routes/routes.js'
import { addFields, endsAtForeignSite, FOREIGN, pollute } from './foreign-address.js'
import { lateRequest } from './late-request.js'
import { listPluginRequests } from './plugin-requests.js'
import { resetRace } from './reset-race.js'
import type { Scene } from './scene.js'
import { stepUpWindow } from './step-up-window.js'
import { isRefused } from './target.js'
import { reportBroken, reportHeld, requireGiven, Untried, type Verdict } from './verdict.js'

/** An attack on one promise of the app. */
interface Attack {
  readonly name: string
  readonly promise: string
  /** @throws {Untried} if it cannot be tried. */
  readonly run: (scene: Scene) => Promise<Verdict>
}

// More than any limit of this package allows, within minutes and before an account is locked.
const MOST_GUESSES = 10
const MOST_MESSAGES = 10
const GUESSES_AT_ONCE = 40
const GUESSING_SESSIONS = 15
const REQUESTED_CODES = 25
const LATE_MESSAGES_MS = 1_000

const ODD_CODES = ['000000', '', undefined, 'null', 'undefined', null, true, [], {}, 0]
const FORGED_VALUES = ['true', '1', 'yes']
const USUAL_LOGINS =
  'login signin sign-in session sessions auth auth/login auth/local users/sign_in user/login account/login api/login api/signin api/session api/auth api/auth/login api/v1/login api/v1/auth/login v1/login mobile/login admin/login legacy/login oauth/token token api/token'
const USUAL_INBOXES = ['/inbox', '/mfa-inbox', '/dev/inbox', '/messages', '/mailbox', '/emails']
/** The headers of browsers for a post of another site, with `Sec-Fetch-Site` and without it. */
const CROSS_SITE = [{ Origin: FOREIGN, 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'null' }]

const attack = (name: string, promise: string, run: Attack['run']): Attack => ({ name, promise, run })

/** The attacks in the order in which they run: those that may lock the account or end the session come last. */
export const ATTACKS: readonly Attack[] = [
  attack('pending-session', 'The first factor alone reaches no route and no WebSocket.', pendingSession),
  attack('open-inbox', 'No page shows codes that were sent to a stranger.', openInbox),
  attack('stricter-gate', 'A page that asks for more refuses what a lenient gate let in.', stricterGate),
  attack('second-login', 'No other login lets a user in without the second factor.', secondLogin),
  attack('code-in-answer', 'No answer and no cookie holds the code.', codeInAnswer),
  attack('session-fixation', 'An earlier session id is not signed in by a sign-in.', sessionFixation),
  attack('code-reuse', 'A code works once.', codeReuse),
  attack('foreign-code', 'A code works for its own user, and if it was sent, in its session.', foreignCode),
  attack('return-address', 'No sign-in leads to another site.', returnAddress),
  attack('late-request', 'A request under way does not bring back a session that ended.', lateRequest),
  attack('step-up-window', 'No page shows a window of another site for the second factor.', stepUpWindow),
  attack('cross-site-post', 'No page of another site can pass or change a factor.', crossSitePost),
  attack('wrong-code', 'A wrong, empty or odd code lets nobody in.', wrongCode),
  attack('remember-me', 'A remembered browser replaces the factor of its own user only.', rememberMe),
  attack('mailbox-flood', `A user gets at most ${MOST_MESSAGES} messages within minutes.`, mailboxFlood),
  attack('parallel-guesses', `A session evaluates at most ${MOST_GUESSES} codes.`, parallelGuesses),
  attack('session-guesses', 'New sessions do not give new guesses without limit.', sessionGuesses),
  attack('weak-factor', 'No factor is changed with a weaker one.', weakFactor),
  attack('sign-out', 'A session ends at the sign-out, also for copied cookies.', signOut),
  attack('reset-race', 'No session keeps a factor that it confirms during a reset.', resetRace),
]

async function pendingSession(scene: Scene) {
  const { check, user, isPlugin } = scene
  const { status, problems, routes } = await checkApp(check)
  if (status === undefined) throw new Untried(problems.join(' '))
  // An app without the plugin may ask for its factor in a way of its own.
  const found = routes.filter(({ verdict, differs }) => verdict === 'bypass' && (isPlugin || !differs))
  const unclear = routes.filter(({ verdict, differs }) => verdict === 'unclear' || differs)
  const list = (some: typeof routes) =>
    some.map((route) => `${route.method} ${route.path}: ${route.reason}`).join('; ')
  if (found.length > 0) return reportBroken(list(found))
  if (unclear.length > 0) throw new Untried(`${list(unclear)}; --path says where the app asks for it`)
  await scene.signedIn()
  const pending = await scene.passed(user.signIn)
  const own = isPlugin ? listPluginRequests(check.path, requiresFactor) : []
  for (const request of own) {
    const { method, path } = request
    if (scene.isAccepted(await scene.send(pending, request)))
      return reportBroken(`${method} ${path} takes the first factor alone`)
  }
  return reportHeld(`${routes.length + own.length} routes, of which ${check.upgrades.length} open WebSockets`)
}

async function openInbox({ check, inbox, browser, get, signedIn }: Scene) {
  const { usedCode } = await signedIn()
  const own = inbox?.origin === check.url.origin ? [inbox.pathname] : []
  const paths = [...own, `${check.path}/inbox`, ...USUAL_INBOXES]
  for (const path of paths) {
    if ((await get(browser(), path)).text.includes(usedCode)) return reportBroken(path)
  }
  return reportHeld(`${paths.length} paths`)
}

async function stricterGate({ user, stricter, get, isIn, passed, signedIn }: Scene) {
  requireGiven(stricter[0], '--stricter, a page that asks for more than this factor')
  const both = signedIn().then(
    ({ agent }) => [agent],
    () => [],
  )
  const agents = [await passed(user.signIn), ...(await both)]
  const admitted: ProbeAgent[] = []
  for (const agent of agents) if (await isIn(agent)) admitted.push(agent)
  if (admitted.length === 0) throw new Untried('no session reaches the page that --protected names')
  for (const path of stricter) {
    for (const agent of admitted) {
      const { status } = await get(agent, path)
      if (status >= 200 && status < 300) return reportBroken(`${path} gets ${status}`)
    }
  }
  return reportHeld(stricter.join(', '))
}

async function secondLogin({ user, logins, browser, cookiesOf, isIn, send, signedIn }: Scene) {
  await signedIn()
  const { fields } = user.signIn
  const usual = USUAL_LOGINS.split(' ').map((path) => ({ method: 'POST', path: `/${path}`, fields }))
  const bodies = ['form', 'json'] as const
  for (const login of [...logins, ...usual].flatMap((login) => bodies.map((body) => ({ ...login, body })))) {
    const agent = browser()
    const { status, text } = await send(agent, login)
    if (status >= 400 && cookiesOf(agent).size === 0) continue
    const found = `${login.path} (${login.body})`
    if (await isIn(agent)) return reportBroken(found)
    for (const token of findTokens(text)) {
      const exchanged = (await exchangeTokens(token, browser, login.path)) ?? []
      for (const { value } of [token, ...exchanged]) {
        if (await isIn(browser(), { Authorization: `Bearer ${value}` })) return reportBroken(found)
      }
    }
  }
  if (logins.length > 0) return reportHeld(`${logins.length} named, ${usual.length} usual paths`)
  throw new Untried(`none at ${usual.length} usual paths; name each other login with --login`)
}

async function codeInAnswer({ signedIn }: Scene) {
  const { answers, usedCode, beforeFactor } = await signedIn()
  const said = JSON.stringify([answers, [...beforeFactor]])
  return said.includes(usedCode)
    ? reportBroken('before it is submitted')
    : reportHeld(`${answers.length} answers`)
}

async function sessionFixation({ browser, isIn, signedIn }: Scene) {
  const { beforeLogin, beforeFactor } = await signedIn()
  if (await isIn(browser(beforeLogin))) return reportBroken('cookies from before the sign-in are signed in')
  if (await isIn(browser(beforeFactor))) return reportBroken('cookies from before the factor are signed in')
  return reportHeld(
    `${beforeLogin.size} cookies from before the sign-in, ${beforeFactor.size} from before the factor`,
  )
}

async function codeReuse({ user, isIn, submit, hasUsed, signedIn, toForeignSite }: Scene) {
  const { usedCode } = await signedIn()
  const { agent } = await toForeignSite()
  await submit(agent, usedCode)
  if (!(await isIn(agent))) return reportHeld('in a second session')
  hasUsed(user)
  return reportBroken('in a second session')
}

async function foreignCode({ user, isIn, submit, toForeignSite, waiting, waitingOther }: Scene) {
  const { agent } = await toForeignSite()
  await submit(agent, await (await waitingOther()).code())
  if (await isIn(agent)) return reportBroken('a code of another user')
  // A code of an authenticator app belongs to no session.
  if (user.totp !== undefined) return reportHeld('a code of another user')
  await submit(agent, await (await waiting(2)).code())
  return (await isIn(agent))
    ? reportBroken('a code of another session')
    : reportHeld('of another user, and session')
}

async function returnAddress(scene: Scene) {
  const { check, user, verify, isIn } = scene
  const { agent, answers, code } = await scene.toForeignSite()
  const right = await code()
  const seen = [...answers, await scene.submit(agent, right, pollute(verify))]
  const isComplete = await isIn(agent)
  if (isComplete) scene.hasUsed(user, right)
  for (const start of ['https://', '//', '/\\', 'https:']) {
    const address = FOREIGN.replace('https://', start)
    const visitor = scene.browser()
    const headers = { Accept: 'text/html', 'X-Forwarded-Host': new URL(FOREIGN).host }
    for (const path of check.protectedPaths) seen.push(await scene.get(visitor, path, headers))
    seen.push(await scene.send(visitor, addFields(pollute(user.signIn, address), address)))
  }
  const foreign = seen.find((answer) => endsAtForeignSite(answer, check.url))
  if (foreign) return reportBroken(`an answer leads to ${foreign.location || FOREIGN}`)
  if (isComplete) return reportHeld(`${seen.length} answers`)
  throw new Untried('no sign-in with a foreign address could be completed')
}

async function crossSitePost(scene: Scene) {
  const { check, user, verify, browser, cookiesOf, isIn } = scene
  const ofPlugin = scene.isPlugin ? listPluginRequests(check.path, ({ method }) => method === 'POST') : []
  const changes = [...scene.changes, ...ofPlugin]
  const own = (await scene.signedIn()).agent
  const { agent, code } = await scene.waiting(3)
  const right = await code()
  // A page of another site posts forms, and knows none of their hidden fields.
  const toPost = (what: AppRequest): AppRequest => ({ ...what, body: 'form', page: undefined })
  for (const headers of CROSS_SITE) {
    const victim = browser(listCrossSiteCookies(cookiesOf(agent)))
    await scene.submit(victim, right, toPost(verify), headers)
    if ((await isIn(victim)) || (await isIn(agent))) {
      scene.hasUsed(user, right)
      return reportBroken(`${verify.method} ${verify.path} passes the second factor`)
    }
    for (const change of changes) {
      const answer = await scene.send(browser(listCrossSiteCookies(cookiesOf(own))), toPost(change), headers)
      if (scene.isAccepted(answer)) return reportBroken(`${change.method} ${change.path} is accepted`)
    }
  }
  return reportHeld(`${changes.length + 1} forms`)
}

async function wrongCode({ verify, isIn, submit, waiting }: Scene) {
  const { agent } = await waiting(2)
  for (const code of [guess(), ...ODD_CODES]) {
    const isText = typeof code === 'string' || code === undefined
    await submit(agent, code, isText ? verify : { ...verify, body: 'json' })
    if (await isIn(agent)) return reportBroken(`with the code ${JSON.stringify(code) ?? 'left out'}`)
  }
  return reportHeld(`${ODD_CODES.length + 1} codes`)
}

async function rememberMe(scene: Scene) {
  const { user, other, verify, browser, cookiesOf, isIn, passed, withRemember } = scene
  requireGiven(scene.remember, '--remember, the field by which a browser is remembered')
  await scene.signedIn()
  const remembered = scene.attacker()
  const asked = await passed(withRemember(user.signIn))
  const early = listNewCookies(cookiesOf(await passed(user.signIn)), cookiesOf(asked))
  if (await isIn(browser(early))) return reportBroken('a cookie from before the factor signs in alone')
  const { agent, code } = await scene.waitingOther()
  const right = await code()
  await scene.submit(agent, right, withRemember(verify))
  if (await isIn(agent)) scene.hasUsed(remembered, right)
  const plain = { ...remembered.signIn, fields: other?.signIn.fields ?? {} }
  const cookies = listNewCookies(cookiesOf(await passed(plain)), cookiesOf(agent))
  const names = [...cookies.keys()]
  if (!(await isIn(await passed(plain, cookies))))
    throw new Untried('no browser is remembered; give --remember')
  const forged = [...FORGED_VALUES, ...Object.values(user.signIn.fields)].map(
    (value) => new Map(names.map((name) => [name, { value: String(value), sameSite: '' }])),
  )
  for (const tried of [early, cookies, ...forged]) {
    if (await isIn(await passed(user.signIn, tried)))
      return reportBroken(`forged, early or foreign: ${names}`)
  }
  return reportHeld(names.join(', '))
}

async function mailboxFlood({ user, passed, requestCode, codesSent, signedIn, waiting }: Scene) {
  if (user.totp !== undefined) throw new Untried('codes of an authenticator app are not sent')
  const { usedCode } = await signedIn()
  // Taken now, because a flood uses up what may be sent.
  await waiting(3).catch(() => undefined)
  const before = await codesSent()
  const agents: ProbeAgent[] = []
  for (let nth = 0; nth < REQUESTED_CODES; nth++) agents.push(await passed(user.signIn))
  // Some may have made room for others.
  const asked = await Promise.allSettled(agents.map((agent) => requestCode(agent, user)))
  if (asked.every(({ status }) => status === 'rejected')) throw new Untried('no code could be requested')
  await wait(LATE_MESSAGES_MS)
  const perMessage = before.filter((code) => code === usedCode).length || 1
  const sent = ((await codesSent()).length - before.length) / perMessage
  return (sent > MOST_MESSAGES ? reportBroken : reportHeld)(
    `${sent} messages after ${REQUESTED_CODES} requests`,
  )
}

async function parallelGuesses({ isIn, submit, waiting }: Scene) {
  const { agent, code } = await waiting(3)
  const right = await code()
  const guessOnce = async () => {
    const { status, text, location } = await submit(agent, guess(right))
    return `${status} ${/"code"\s*:\s*"(\w+)"/.exec(text)?.[1] ?? location}`
  }
  const first = await guessOnce()
  const kinds = await Promise.all(Array.from({ length: GUESSES_AT_ONCE }, guessOnce))
  await submit(agent, right)
  const wrong = kinds.length + 1
  if (await isIn(agent)) return reportBroken(`the right code signs in after ${wrong} wrong ones`)
  const evaluated = kinds.filter((kind) => kind === first).length + 1
  // An app that answers all guesses alike does not show how many it evaluated.
  if (evaluated === wrong) return reportHeld(`the right code is refused after ${wrong} wrong ones`)
  return (evaluated > MOST_GUESSES ? reportBroken : reportHeld)(
    `${evaluated} of ${wrong} wrong codes were evaluated`,
  )
}

async function sessionGuesses(scene: Scene) {
  await scene.signedIn()
  const guessed = scene.attacker()
  for (let nth = 1; nth <= GUESSING_SESSIONS; nth++) {
    const agent = scene.browser()
    if (isRefused(await scene.send(agent, guessed.signIn))) return reportHeld(`sign-in ${nth} is refused`)
    const answer = await scene.requestCode(agent, guessed)
    if (answer?.status === 429) return reportHeld(`no code is sent after wrong ones in ${nth - 1} sessions`)
    await scene.submit(agent, guess())
  }
  const { agent, code } = await scene.pending(guessed)
  await scene.submit(agent, await code())
  return ((await scene.isIn(agent)) ? reportBroken : reportHeld)(
    `the right code after ${GUESSING_SESSIONS} sessions`,
  )
}

async function weakFactor(scene: Scene) {
  const { check, user, changes, isPlugin } = scene
  const { agent } = await scene.signedIn()
  const tried = changes.map(({ path }) => path)
  if (isPlugin) {
    const factors = await scene.factorsOf(agent)
    const id = await scene.factorOf(agent, user)
    const strengths = factors.flatMap(({ strength }) => STRENGTHS.filter((known) => known === strength))
    const shown = strengths[factors.findIndex((factor) => factor.id === id)]
    if (shown && strengths.some((needed) => !reaches(shown, needed))) {
      for (const change of listPluginRequests(check.path, changesFactor)) {
        if (scene.isAccepted(await scene.send(agent, change)))
          return reportBroken(`${change.path} takes a ${shown} one`)
        tried.push(change.path)
      }
    }
  }
  for (const change of changes) {
    const answer = await scene.send(await scene.passed(user.signIn), change)
    if (scene.isAccepted(answer))
      return reportBroken(`${change.method} ${change.path} accepts the first factor alone`)
  }
  if (tried.length > 0) return reportHeld(tried.join(', '))
  throw new Untried('give --change, a request that changes a factor, or a user with a stronger one')
}

async function signOut({ check, browser, cookiesOf, isIn, send, signOut: request, signedIn }: Scene) {
  const { agent } = await signedIn()
  if (!(await isIn(agent))) throw new Untried('an earlier attack has ended the session')
  const copied = cookiesOf(agent)
  const { method, path } = request
  const { status } = await send(agent, { ...request, page: check.protectedPaths[0] })
  if (status >= 400 || (await isIn(agent)))
    throw new Untried(`${method} ${path} got ${status} and did not sign out; give --sign-out`)
  return ((await isIn(browser(copied))) ? reportBroken : reportHeld)(`${method} ${path}`)
}

/** Whether an operation of the plugin is for users who have shown a factor. */
function requiresFactor({ access }: Operation): boolean {
  return access === 'signed-in' || access === 'strongest'
}

/** Whether an operation of the plugin changes a factor. One with fields would refuse a request without them. */
function changesFactor({ access, method, body }: Operation): boolean {
  return access === 'strongest' && method === 'POST' && !body
}

/** The cookies whose names the first browser does not have. */
function listNewCookies(before: Cookies, after: Cookies): Cookies {
  return new Map([...after].filter(([name]) => !before.has(name)))
}

/** A wrong code. */
function guess(right?: string): string {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  return code === right ? guess(right) : code
}

/** The cookies that a browser sends with a post of another site. */
function listCrossSiteCookies(cookies: Cookies): Cookies {
  return new Map([...cookies].filter(([, { sameSite }]) => sameSite !== 'lax' && sameSite !== 'strict'))
}
