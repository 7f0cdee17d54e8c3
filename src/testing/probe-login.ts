import type { AppRoute, SkippedRoute } from './app-routes.js'
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

interface Probe {
  readonly name: string
  readonly login: ProbeLogin
  readonly routes: readonly AppRoute[]
  readonly connections: readonly UpgradeProbe[]
  /** Where the plugin's routes are mounted. */
  readonly path: string
  readonly pendingPaths: readonly string[]
}

/** The response to one probe request. */
interface ProbeResponse {
  readonly status: number
  readonly text: string
  readonly hasUser: boolean
}

type Headers = Readonly<Record<string, string>>

// The gate answers API requests itself but lets subresources of a page through. Those show what the routes behind it do.
const REQUEST_HEADERS: readonly Headers[] = [
  { Accept: 'application/json' },
  { Accept: 'image/*', 'Sec-Fetch-Dest': 'image' },
]

/** Signs in by one login and requests the routes with the pending login. `skipped` lists routes without a response. */
export async function probeLogin(
  probed: ProbedApp,
  { name, login, routes, connections, path, pendingPaths }: Probe,
) {
  const bypasses: MfaBypass[] = []
  const skipped: SkippedRoute[] = []
  const report = ({ method, path: route }: AppRoute, reason: string) => {
    if (bypasses.some((known) => known.method === method && known.route === route)) return
    bypasses.push({ login: name, method, route, reason })
  }

  const signIn = async () => {
    const agent = probed.agent()
    probed.takeRequestsWithUser()
    await passFirstFactor(name, login, agent)
    for (const request of probed.takeRequestsWithUser()) {
      report(request, 'the request has a user when the login route responds')
    }
    return agent
  }

  let agent = await signIn()
  const status = await mfaStatus(agent, path)
  if (status !== 'pending') {
    report({ method: 'GET', path }, `the MFA status after this login is "${status}" instead of "pending"`)
    return { bypasses, skipped }
  }
  for (const route of routes) {
    for (const headers of REQUEST_HEADERS) {
      // A route can end the pending login, as signing out does.
      if ((await mfaStatus(agent, path)) !== 'pending') agent = await signIn()
      const requestAnonymously = () => request(probed, probed.agent(), route, headers)
      const anonymous = await requestAnonymously()
      const pending = await request(probed, agent, route, headers)
      if (pending.hasUser && !anonymous.hasUser) {
        report(route, 'the request has a user when the route responds')
        break
      }
      if (pending.status === 0) {
        skipped.push({ ...route, reason: 'it did not respond' })
        break
      }
      if (isSuccess(pending) && !pendingPaths.some((allowed) => isBelow(route.path, allowed))) {
        if (!isSuccess(anonymous)) {
          report(
            route,
            `a pending login gets ${pending.status}, an anonymous request gets ${anonymous.status}`,
          )
        } else if (
          pending.text !== anonymous.text &&
          // Content that changes with each request, like a nonce, proves nothing.
          (await requestAnonymously()).text === anonymous.text
        ) {
          report(route, 'a pending login gets other content than an anonymous request')
        }
      }
    }
  }
  for (const connection of connections) {
    if ((await mfaStatus(agent, path)) !== 'pending') agent = await signIn()
    const route = { method: 'GET', path: connection.path }
    const found = await probeConnection(probed, agent, connection)
    if (found.bypass) report(route, found.bypass)
    else if (found.skipped) skipped.push({ ...route, reason: found.skipped })
  }
  return { bypasses, skipped }
}

/** Why an upgrade counts as a bypass, or why it could not be probed; nothing if the server refuses it. */
async function probeConnection(
  probed: ProbedApp,
  agent: ProbeAgent,
  connection: UpgradeProbe,
): Promise<{ readonly bypass?: string; readonly skipped?: string }> {
  const connectAnonymously = () => probed.connect(probed.agent(), connection)
  const anonymous = await connectAnonymously()
  const pending = await probed.connect(agent, connection)
  if (pending.status === 0) return { skipped: 'it did not respond' }
  if (connection.isSignedIn) {
    return connection.isSignedIn(pending) ? { bypass: 'a pending login opens a signed-in connection' } : {}
  }
  if (!pending.isOpen) return {}
  if (!anonymous.isOpen)
    return { bypass: 'a pending login opens a connection, an anonymous request does not' }
  const said = String(anonymous.messages)
  const differs = String(pending.messages) !== said && String((await connectAnonymously()).messages) === said
  return differs ? { bypass: 'a pending login gets other messages than an anonymous connection' } : {}
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
  const response = await agent(path, { method, headers, ...sent }).then(
    // A stream never ends, but its status is known.
    async (answer) => ({ status: answer.status, text: await answer.text().catch(() => '') }),
    () => ({ status: 0, text: '' }),
  )
  return { ...response, hasUser: probed.takeRequestsWithUser().length > 0 }
}

async function passFirstFactor(name: string, login: ProbeLogin, agent: ProbeAgent): Promise<void> {
  if (typeof login === 'function') return void (await login(agent))
  const path = login.path ?? '/login'
  const headers = { 'Content-Type': 'application/json' }
  const { status } = await agent(path, { method: 'POST', headers, body: JSON.stringify(login.fields) })
  if (status >= 400) {
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
