import { type AnswerToken, findTokens, isPendingLogin } from './answer-tokens.js'
import type { AppRoute } from './app-routes.js'
import { exchangeTokens } from './exchanged-tokens.js'
import type { ProbeAgent, ProbedApp, UpgradeProbe } from './probed-app.js'

/** Signs in with the first factor: a function that uses the agent, or the fields to post to the app's login route. */
export type ProbeLogin =
  | ((agent: ProbeAgent) => Promise<unknown>)
  /** `path` defaults to `/login`. */
  | { readonly path?: string | undefined; readonly fields: Readonly<Record<string, string>> }

/** A route that treats a user without the second factor as signed in. */
export interface MfaBypass {
  /** The name of the login in `BypassOptions.logins`. */
  readonly login: string
  /** The HTTP method of the request. */
  readonly method: string
  /** The path of the request. */
  readonly route: string
  /** Why the route counts as a bypass, in words. */
  readonly reason: string
}

/** The response that a pending login gets at a route, beside an anonymous request. */
export interface ProbeResult extends AppRoute {
  /**
   * `differs`: both are refused, in different ways. `mfa`: it is asked for the second factor. `refused`, `public`: it gets no more than anyone.
   * `unclear`: nothing follows from the responses. `silent`: no response.
   */
  readonly verdict: 'bypass' | 'differs' | 'mfa' | 'refused' | 'public' | 'unclear' | 'silent'
  /** Why, in words. */
  readonly reason: string
  /** The response to the anonymous request, if there was one. */
  readonly anonymous?: Pick<ProbeResponse, 'status' | 'location'>
}

interface Probe {
  readonly name: string
  readonly login: ProbeLogin
  /** More can be added while they are requested. */
  readonly routes: readonly AppRoute[]
  readonly connections: readonly UpgradeProbe[]
  /** Where the plugin's routes are mounted. */
  readonly path: string
  readonly pendingPaths: readonly string[]
  /** For an app in another process, whose requests show no user. */
  readonly running?: RunningProbe
}

/** Requests each route as a browser opens a page, too, and compares even if the login is not pending. */
interface RunningProbe {
  /** When to stop, in milliseconds since 1970. */
  readonly until: number
  /** Is given each response to a browser that opens a page. */
  readonly onPage: (path: string, page: ProbeResponse) => void
}

/** The response to one probe request. */
export interface ProbeResponse {
  readonly status: number
  readonly isHtml: boolean
  readonly text: string
  readonly location: string
  readonly hasUser: boolean
}

/** The parts that are read of a response. `text` and `location` are empty without a body or a redirect. */
export type Answer = Omit<ProbeResponse, 'hasUser'>

type Headers = Readonly<Record<string, string>>

// The gate answers API requests itself but lets subresources of a page through, with an empty session. Those show which routes take the
// user from elsewhere, such as from a handler that read the session before the gate.
const REQUEST_HEADERS: readonly Headers[] = [
  { Accept: 'application/json' },
  { Accept: 'image/*', 'Sec-Fetch-Dest': 'image' },
]

/** The headers of a browser that opens a page. */
export const PAGE_HEADERS: Headers = {
  Accept: 'text/html',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
}

/** Requests each route right after a login: at a later request, the gate would have closed what it does not protect. */
export async function probeLogin(probed: ProbedApp, probe: Probe) {
  const { name, login, routes, connections, path, running } = probe
  const results: ProbeResult[] = []

  const signIn = async (answers: Response[] = []) => {
    const agent = probed.agent()
    await passFirstFactor(name, login, async (...request) => {
      const answer = await agent(...request)
      answers.push(answer.clone())
      return answer
    })
    return agent
  }
  /** A browser that has just signed in, unless the route cannot be requested any more. */
  const signInFor = async (route: AppRoute) => {
    if (!running) return signIn()
    const isOver = Date.now() >= running.until
    const agent = isOver ? 'there was no time left to request it' : await signIn().catch(describeError)
    if (typeof agent === 'function') return agent
    results.push({ ...route, verdict: 'unclear', reason: agent })
    return undefined
  }

  probed.takeRequestsWithUser()
  const answers: Response[] = []
  const first = await signIn(answers)
  for (const request of probed.takeRequestsWithUser()) {
    results.push({
      ...request,
      verdict: 'bypass',
      reason: 'the request has a user when the login route responds',
    })
  }
  const cookies = [...probed.cookiesOf(first).keys()]
  const status = await mfaStatus(first, path)
  if (status !== 'pending' && !running) {
    const reason = `the MFA status after this login is "${status}" instead of "pending"`
    results.push({ method: 'GET', path, verdict: 'bypass', reason })
    return { status, cookies, results, reference: false }
  }
  const tokens: AnswerToken[] = []
  for (const answer of answers) {
    const path = new URL(answer.url).pathname
    const posts = routes.filter(({ method }) => method === 'POST').map((route) => route.path)
    for (const token of findTokens(await answer.text().catch(() => ''))) {
      const exchanged = await exchangeTokens(token, () => probed.agent(), path, posts)
      tokens.push(token, ...(exchanged ?? []))
      const reason = `its answer has ${token.field}, and no path that exchanges it was found: name one with --route 'POST /path'`
      if (!exchanged) results.push({ method: 'POST', path, verdict: 'silent', reason })
    }
  }
  const kinds = running ? [PAGE_HEADERS, ...REQUEST_HEADERS] : REQUEST_HEADERS
  for (const route of routes) {
    for (const { field, value } of tokens) {
      const requestAnonymously = () => request(probed, probed.agent(), route, {})
      const anonymous = await requestAnonymously()
      const opened = await request(probed, probed.agent(), route, { Authorization: `Bearer ${value}` })
      const judged = await judge(anonymous, opened, { ...probe, route, requestAnonymously })
      const reason = `with ${field} of the login as a bearer token, ${judged.reason}`
      if (judged.verdict === 'bypass') results.push({ ...route, verdict: 'bypass', reason, anonymous })
    }
    for (const headers of kinds) {
      const agent = await signInFor(route)
      if (!agent) break
      const requestAnonymously = () => request(probed, probed.agent(), route, headers)
      const anonymous = await requestAnonymously()
      const pending = await request(probed, agent, route, headers)
      const requestTwice = async () => {
        const browser = await signIn()
        // It passes the gate, and shows no page.
        await mfaStatus(browser, path)
        const again = () => request(probed, browser, route, headers)
        return [await again(), await again()]
      }
      const judged = await judge(anonymous, pending, { ...probe, route, requestAnonymously, requestTwice })
      results.push({ ...route, ...judged, anonymous })
      // An address that is another one for each request leads to no route.
      const isOnce = judged.verdict === 'refused' && pending.location !== anonymous.location
      const pages = headers === PAGE_HEADERS && !isOnce ? [anonymous, pending] : []
      for (const page of pages) running?.onPage(route.path, page)
      if (judged.verdict === 'silent' || pending.hasUser) break
    }
  }
  for (const connection of connections) {
    const route = { method: 'GET', path: connection.path }
    const agent = await signInFor(route)
    if (agent) results.push({ ...route, ...(await probeConnection(probed, agent, connection)) })
  }
  const reference = tokens.some(({ field }) => field === '"login"') && status === 'pending'
  return { status, cookies, results, reference }
}

type Judgement = Pick<ProbeResult, 'verdict' | 'reason'>

interface Compared {
  readonly route: AppRoute
  readonly path: string
  readonly pendingPaths: readonly string[]
  readonly requestAnonymously: () => Promise<ProbeResponse>
  /** Requests the route twice in a new browser, whose first request after the login was another one. */
  readonly requestTwice?: () => Promise<ProbeResponse[]>
}

/** Compares the response to a pending login with the one to an anonymous request. */
async function judge(
  anonymous: ProbeResponse,
  pending: ProbeResponse,
  { route, path, pendingPaths, requestAnonymously, requestTwice }: Compared,
): Promise<Judgement> {
  if (pending.hasUser && !anonymous.hasUser) {
    return { verdict: 'bypass', reason: 'the request has a user when the route responds' }
  }
  if (pending.status === 0) return { verdict: 'silent', reason: 'it did not respond' }
  if (asksForMfa(pending, path)) return { verdict: 'mfa', reason: 'the app asks for the second factor' }
  const [requested = ''] = route.path.split('?', 1)
  if (pendingPaths.some((allowed) => isBelow(requested, allowed))) {
    return { verdict: 'public', reason: 'a pending login may use this path' }
  }
  if (!isSuccess(pending)) {
    const isSame = pending.location === anonymous.location
    return judgeRefusal(anonymous, pending, isSame ? anonymous : await requestAnonymously())
  }
  if (!isSuccess(anonymous)) return { verdict: 'bypass', reason: describeStatuses(anonymous, pending) }
  if (pending.text === anonymous.text) return { verdict: 'public', reason: 'everyone gets the same content' }
  const stranger = await requestAnonymously()
  const findDifference = ({ text }: ProbeResponse) => quoteDifference(text, anonymous.text, stranger.text)
  const difference = findDifference(pending)
  if (difference === undefined) return { verdict: 'unclear', reason: 'its content changes with each request' }
  if (difference === '') return { verdict: 'public', reason: 'everyone gets the same content' }
  // A message that is shown once. Content that the gate hides from the second request on is not in the first of these either.
  const [first, second] = (await requestTwice?.())?.map(findDifference) ?? []
  if (first === difference && second === '') {
    return { verdict: 'public', reason: `only the first page after the login differs: ${difference}` }
  }
  return {
    verdict: 'bypass',
    reason: `a pending login gets other content than an anonymous request: ${difference}`,
  }
}

const MOST_QUOTED = 90

/**
 * Quotes where a text differs from another one, but for the tokens in which that differs from a third one. Empty if nothing differs, and
 * `undefined` if that cannot be told.
 */
function quoteDifference(
  own: string,
  text: string,
  again: string,
  token = /([\w+/=%.-]{8,})/,
): string | undefined {
  const [parts, others, owned] = [text, again, own].map((page) => page.split(token))
  if (!parts || !others || !owned || parts.length !== others.length) return undefined
  const isToken = (at: number) => at % 2 === 1
  if (parts.some((part, at) => part !== others[at] && !isToken(at))) return undefined
  const [mine, theirs] = [owned, parts].map((some) =>
    some.map((part, at) => (parts[at] === others[at] ? part : '…')).join(''),
  )
  if (mine === undefined || theirs === undefined || mine === theirs) return ''
  const start = [...mine].findIndex((letter, at) => letter !== theirs[at])
  const quotes = [mine, theirs].map((some) =>
    some.slice(start < 0 ? mine.length : start).replace(/\s+/g, ' '),
  )
  return quotes.map((quote) => `"${quote.slice(0, MOST_QUOTED)}"`).join(' instead of ')
}

function judgeRefusal(anonymous: ProbeResponse, pending: ProbeResponse, stranger: ProbeResponse): Judgement {
  const statuses = describeStatuses(anonymous, pending)
  const failed = [anonymous, pending].find(({ status }) => status === 0 || status === 429 || status >= 500)
  if (failed) return { verdict: 'unclear', reason: statuses }
  if (isSuccess(anonymous)) return { verdict: 'refused', reason: statuses }
  if (pending.status !== anonymous.status) return { verdict: 'differs', reason: statuses }
  // Each part of a path counts: `/accounts/1` is no other token than `/sign-in/1`.
  const token = /([\w+=%.-]{8,})/
  const difference = quoteDifference(pending.location, anonymous.location, stranger.location, token)
  if (difference === undefined) return { verdict: 'unclear', reason: 'it leads elsewhere with each request' }
  if (difference === '') return { verdict: 'refused', reason: `everyone gets ${pending.status}` }
  return {
    verdict: 'differs',
    reason: `${statuses}, to ${pending.location} and to ${anonymous.location}`,
  }
}

function describeStatuses(anonymous: ProbeResponse, pending: ProbeResponse): string {
  return `a pending login gets ${pending.status}, an anonymous request gets ${anonymous.status}`
}

/** Whether the plugin sent the response: a problem that asks for the second factor, or a redirect to its pages. */
function asksForMfa({ status, text, location }: ProbeResponse, path: string): boolean {
  if (status >= 300 && status < 400) {
    return URL.canParse(location, 'http://app') && isBelow(new URL(location, 'http://app').pathname, path)
  }
  return status >= 400 && /"code":\s*"(?:mfa|enrollment|bypass_code)_required"/.test(text)
}

/** The connection that an upgrade of a pending login opens, beside an anonymous one. */
async function probeConnection(
  probed: ProbedApp,
  agent: ProbeAgent,
  connection: UpgradeProbe,
): Promise<Judgement> {
  const connectAnonymously = () => probed.connect(probed.agent(), connection)
  const anonymous = await connectAnonymously()
  const pending = await probed.connect(agent, connection)
  if (pending.status === 0) return { verdict: 'silent', reason: 'it did not respond' }
  if (connection.isSignedIn) {
    return connection.isSignedIn(pending)
      ? { verdict: 'bypass', reason: 'a pending login opens a signed-in connection' }
      : { verdict: 'refused', reason: 'the connection is not signed in' }
  }
  if (!pending.isOpen) {
    // A path without a WebSocket server opens nothing either, and proves nothing.
    const isRefusal = [anonymous, pending].every(({ status }) => [101, 401, 403].includes(status))
    return { verdict: isRefusal ? 'refused' : 'unclear', reason: `a pending login gets ${pending.status}` }
  }
  if (!anonymous.isOpen) {
    return { verdict: 'bypass', reason: 'a pending login opens a connection, an anonymous request does not' }
  }
  const said = String(anonymous.messages)
  if (String(pending.messages) === said) {
    return { verdict: 'public', reason: 'everyone opens the connection and gets the same messages' }
  }
  if (String((await connectAnonymously()).messages) !== said) {
    return { verdict: 'unclear', reason: 'its messages change with each connection' }
  }
  return { verdict: 'bypass', reason: 'a pending login gets other messages than an anonymous connection' }
}

async function request(
  probed: ProbedApp,
  agent: ProbeAgent,
  { method, path }: AppRoute,
  requestHeaders: Headers,
): Promise<ProbeResponse> {
  probed.takeRequestsWithUser()
  const sent = method === 'GET' ? {} : { body: '{}' }
  const headers = { ...requestHeaders, ...(sent.body && { 'Content-Type': 'application/json' }) }
  const answer = await agent(path, { method, headers, ...sent }).then(answerOf, () => ({
    status: 0,
    isHtml: false,
    text: '',
    location: '',
  }))
  return { ...answer, hasUser: probed.takeRequestsWithUser().length > 0 }
}

/** Reads a response. The text of a stream that does not end is empty. */
export async function answerOf(response: Response): Promise<Answer> {
  return {
    status: response.status,
    isHtml: /html/.test(response.headers.get('Content-Type') ?? ''),
    text: await response.text().catch(() => ''),
    location: response.headers.get('Location') ?? '',
  }
}

async function passFirstFactor(name: string, login: ProbeLogin, agent: ProbeAgent): Promise<void> {
  if (typeof login === 'function') return void (await login(agent))
  const path = login.path ?? '/login'
  const headers = { 'Content-Type': 'application/json' }
  const answer = await agent(path, { method: 'POST', headers, body: JSON.stringify(login.fields) })
  const { status } = answer
  if (status >= 400 && !isPendingLogin(await answer.text())) {
    throw new Error(
      `The login "${name}" failed: POST ${path} responded with ${status}. Check its path and fields.`,
    )
  }
}

/** The MFA status that the plugin reports, or the HTTP status if the plugin does not answer. */
async function mfaStatus(agent: ProbeAgent, path: string): Promise<string> {
  const answer = await agent(path)
  const body: unknown = await answer.json().catch(() => undefined)
  return String(typeof body === 'object' && body !== null && 'status' in body ? body.status : answer.status)
}

function isSuccess({ status }: ProbeResponse): boolean {
  return status >= 200 && status < 300
}

function isBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`)
}

/** Describes why a request to the app failed. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const detail = cause instanceof Error ? ` (${cause.message || ('code' in cause ? cause.code : '')})` : ''
  return error.message.startsWith('Cannot')
    ? error.message
    : `Cannot reach the app: ${error.message}${detail}`
}
