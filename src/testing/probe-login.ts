import type { AppRoute, UntriedRoute } from './app-routes.js'
import type { BypassAgent, ProbedApp } from './probed-app.js'

/** Shows the first factor: by a function that does it with an agent, or by what is posted to the app's own route. */
export type BypassLogin =
  | ((agent: BypassAgent) => Promise<unknown>)
  | { readonly path?: string | undefined; readonly fields: Readonly<Record<string, string>> }

/** A route at which somebody without the second factor is somebody. */
export interface MfaBypass {
  /** The name of the login. */
  readonly road: string
  readonly method: string
  readonly route: string
  readonly why: string
}

interface Road {
  readonly road: string
  readonly login: BypassLogin
  readonly routes: readonly AppRoute[]
  /** Where the plugin's routes are. */
  readonly path: string
  readonly open: readonly string[]
}

/** What was seen of one visit to a route. */
interface Sight {
  readonly status: number
  readonly text: string
  readonly heldUser: boolean
}

type Visit = Readonly<Record<string, string>>

// The gate answers a program itself, but lets the parts of a page through: these show what the routes behind it do.
const VISITS: readonly Visit[] = [
  { Accept: 'application/json' },
  { Accept: 'image/*', 'Sec-Fetch-Dest': 'image' },
]

/** Signs in by one login, and tries the routes as whoever one is then; `silent` are those that did not answer. */
export async function probeLogin(probed: ProbedApp, { road, login, routes, path, open }: Road) {
  const findings: MfaBypass[] = []
  const silent: UntriedRoute[] = []
  const find = ({ method, path: route }: AppRoute, why: string) => {
    if (findings.some((known) => known.method === method && known.route === route)) return
    findings.push({ road, method, route, why })
  }

  const start = async () => {
    const agent = probed.agent()
    probed.takeHeld()
    await showFirst(road, login, agent)
    for (const held of probed.takeHeld()) find(held, 'the login itself holds a user when it is answered')
    return agent
  }

  let agent = await start()
  const standing = await standingOf(agent, path)
  if (standing !== 'pending') {
    find({ method: 'GET', path }, `after this login it tells "${standing}" instead of "pending"`)
    return { findings, silent }
  }
  for (const route of routes) {
    for (const visit of VISITS) {
      // A route may end the half-login, as signing out does.
      if ((await standingOf(agent, path)) !== 'pending') agent = await start()
      const asNobody = () => look(probed, probed.agent(), route, visit)
      const nobody = await asNobody()
      const halfway = await look(probed, agent, route, visit)
      if (halfway.heldUser && !nobody.heldUser) {
        find(route, 'its request holds a user when it is answered')
        break
      }
      if (halfway.status === 0) {
        silent.push({ ...route, why: 'it did not answer' })
        break
      }
      if (isGood(halfway) && !open.some((one) => isAt(route.path, one))) {
        if (!isGood(nobody)) find(route, `it answers them ${halfway.status}, and nobody ${nobody.status}`)
        // What changes from one visit to the next, like a nonce, proves nothing.
        else if (halfway.text !== nobody.text && (await asNobody()).text === nobody.text) {
          find(route, 'it answers them with something else than nobody')
        }
      }
    }
  }
  return { findings, silent }
}

async function look(probed: ProbedApp, agent: BypassAgent, { method, path }: AppRoute, visit: Visit) {
  probed.takeHeld()
  const sent = method === 'GET' ? {} : { body: '{}' }
  const headers = { ...visit, ...(sent.body && { 'Content-Type': 'application/json' }) }
  const sight = await agent(path, { method, headers, ...sent }).then(
    // A stream has no end, but it was begun for somebody.
    async (answer) => ({ status: answer.status, text: await answer.text().catch(() => '') }),
    () => ({ status: 0, text: '' }),
  )
  return { ...sight, heldUser: probed.takeHeld().length > 0 } satisfies Sight
}

async function showFirst(road: string, login: BypassLogin, agent: BypassAgent): Promise<void> {
  if (typeof login === 'function') return void (await login(agent))
  const path = login.path ?? '/login'
  const headers = { 'Content-Type': 'application/json' }
  const { status } = await agent(path, { method: 'POST', headers, body: JSON.stringify(login.fields) })
  if (status >= 400) throw new Error(`The login "${road}" was refused: POST ${path} was answered ${status}.`)
}

/** Where somebody stands, in the word of the plugin, or the status if it is not the plugin that answers. */
async function standingOf(agent: BypassAgent, path: string): Promise<string> {
  const answer = await agent(path)
  const body: unknown = await answer.json().catch(() => undefined)
  return String(typeof body === 'object' && body !== null && 'status' in body ? body.status : answer.status)
}

function isGood({ status }: Sight): boolean {
  return status >= 200 && status < 300
}

function isAt(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}
