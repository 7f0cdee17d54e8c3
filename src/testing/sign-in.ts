import { parseUser } from '../protocol/contact.js'
import { maskContact } from '../protocol/destination.js'
import type { MfaTestKit } from './kit.js'

/** What an agent answers, as far as this reads it. */
export interface AgentAnswer {
  readonly status: number
  readonly body: unknown
}

/** A request that an agent is about to make. */
export interface AgentRequest extends PromiseLike<AgentAnswer> {
  set(name: string, value: string): AgentRequest
  send(body: object): AgentRequest
}

/** Somebody's browser: an agent of supertest or superagent, which keeps cookies. */
export interface TestAgent {
  get(path: string): AgentRequest
  post(path: string): AgentRequest
}

/** Or a function like `fetch` that keeps cookies and takes paths. */
export type FetchAgent = (
  path: string,
  init: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string },
) => Promise<{ readonly status: number; json(): Promise<unknown> }>

/** How somebody signs in. */
export interface SignInOptions {
  readonly kit: MfaTestKit
  /** A factor's id or method, or `backup`. Defaults to the first one that the app offers. */
  readonly factor?: string | undefined
  /** The first factor: the app's own route, `/login` unless named, and what is posted to it. Left out, it was shown. */
  readonly login?:
    | { readonly path?: string | undefined; readonly fields: Readonly<Record<string, string>> }
    | undefined
  /** Where the plugin's routes are. Defaults to `/mfa`. */
  readonly path?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Asks for a path, or posts to it when there is something to post. */
type Ask = (path: string, body?: object) => Promise<{ readonly status: number; readonly body: Fields }>

/**
 * Signs somebody in with the second factor, as their browser would: asks for a code, reads it in the kit's inbox or
 * on their app, types it. Gives the path where the app would go on.
 * @throws when a step is refused; the error names the step and the code of the answer.
 */
export async function signInWithMfa(
  agent: TestAgent | FetchAgent,
  { kit, factor, login, path = '/mfa' }: SignInOptions,
): Promise<string> {
  const ask = asking(agent)
  const shown = login && (await showFirst(ask, login.path ?? '/login', login.fields))
  const chosen = await chosenFactor(ask, path, factor, shown)
  const challenge = await step(ask, `${path}/challenge`, { factor: chosen })
  const code = codeFor(kit, challenge)
  const { next } = await step(ask, `${path}/verify`, { code, factor: String(challenge.factor) })
  return typeof next === 'string' ? next : '/'
}

function asking(agent: TestAgent | FetchAgent): Ask {
  const type = 'application/json'
  return async (path, body) => {
    if ('post' in agent) {
      const answer = await (body
        ? agent.post(path).set('Accept', type).send(body)
        : agent.get(path).set('Accept', type))
      return { status: answer.status, body: asObject(answer.body) }
    }
    const headers = { Accept: type, ...(body && { 'Content-Type': type }) }
    const answer = await agent(path, {
      method: body ? 'POST' : 'GET',
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: asObject(await answer.json().catch(() => undefined)) }
  }
}

async function step(ask: Ask, path: string, sent?: object): Promise<Fields> {
  const { status, body } = await ask(path, sent)
  if (status < 400) return body
  const method = sent ? 'POST' : 'GET'
  throw new Error(`signInWithMfa: ${method} ${path} was answered ${status} ${String(body.code ?? '')}`.trim())
}

/** Shows the first factor, and tells how that was answered. */
async function showFirst(ask: Ask, path: string, fields: object): Promise<string> {
  const { status, body } = await ask(path, fields)
  const told = `POST ${path} was answered ${status}`
  // Who follows the login's redirect is stopped by the gate, halfway as they should be.
  if (status < 400 || body.code === 'mfa_required') return told
  throw new Error(`signInWithMfa: ${told} ${String(body.code ?? '')}`.trim())
}

async function chosenFactor(
  ask: Ask,
  path: string,
  named: string | undefined,
  shown: string | undefined,
): Promise<string> {
  const { factors, status } = await step(ask, path)
  const offered = Array.isArray(factors) ? factors.map(asObject) : []
  const ids = offered.map(({ id }) => String(id))
  const [first] = ids
  if (first === undefined) {
    const told = `there is nobody halfway here, or nobody with a factor (status "${String(status)}")`
    throw new Error(`signInWithMfa: ${[told, shown].filter(Boolean).join('; ')}`)
  }
  if (named === undefined) return first
  if (named === 'backup' || ids.includes(named) || offered.some(({ method }) => method === named))
    return named
  throw new Error(`signInWithMfa: there is no factor "${named}" here; the app offers ${ids.join(', ')}`)
}

function codeFor(kit: MfaTestKit, { factor, to, delivery }: Fields): string {
  if (factor === 'backup') {
    const [newest] = kit.inbox.all().filter(({ codes }) => codes.length > 1)
    if (newest) return newest.code
    throw new Error('signInWithMfa: nobody has asked for backup codes yet')
  }
  const isTheirs = (user: string) => {
    const contact = parseUser(user)
    return contact !== undefined && maskContact(contact) === to
  }
  if (delivery === 'none') {
    const user = kit.apps.users().find(isTheirs)
    if (user) return kit.apps.code(user)
    throw new Error(
      'signInWithMfa: this person has no app in the kit; give them one with kit.apps.enrol(user)',
    )
  }
  const newest = kit.inbox.all().find((message) => isTheirs(message.to))
  if (newest) return newest.code
  throw new Error(
    'signInWithMfa: the code did not reach the inbox of this kit; is kit.service the option service, and kit.carrier delivering?',
  )
}

function asObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
