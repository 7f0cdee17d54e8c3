import { parseUser } from '../protocol/contact.js'
import { maskForOwner } from '../protocol/destination.js'
import type { MfaTestKit } from './kit.js'

/** The part of a response that `signInWithMfa` reads. */
export interface AgentAnswer {
  /** The HTTP status of the response. */
  readonly status: number
  /** The parsed body of the response. */
  readonly body: unknown
}

/** A request under construction, as in supertest and superagent. */
export interface AgentRequest extends PromiseLike<AgentAnswer> {
  /** Sets a header of the request. */
  set(name: string, value: string): AgentRequest
  /** Sets the body of the request, as JSON. */
  send(body: object): AgentRequest
}

/** The user's browser: an agent of supertest or superagent, which keeps cookies. */
export interface TestAgent {
  /** Begins a GET request. */
  get(path: string): AgentRequest
  /** Begins a POST request. */
  post(path: string): AgentRequest
}

/** The user's browser: a function like `fetch` that takes paths and keeps cookies. */
export type FetchAgent = (
  path: string,
  init: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string },
) => Promise<{ readonly status: number; json(): Promise<unknown> }>

/** Options of `signInWithMfa`. */
export interface SignInOptions {
  /** The test kit whose service the app uses. */
  readonly kit: MfaTestKit
  /** The id or method of a factor, or `backup`. Defaults to the first factor that the app offers. */
  readonly factor?: string | undefined
  /**
   * The first factor: the fields to post to the app's login route, whose `path` defaults to `/login`. By
   * default, the agent has already passed the first factor.
   */
  readonly login?:
    | { readonly path?: string | undefined; readonly fields: Readonly<Record<string, string>> }
    | undefined
  /** Where the plugin's routes are mounted. Defaults to `/mfa`. */
  readonly path?: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Requests a path: POST with a body, otherwise GET. */
type Send = (path: string, body?: object) => Promise<{ readonly status: number; readonly body: Fields }>

/**
 * Signs a user in with the second factor as a browser would: requests a code, reads it from the kit's inbox or the
 * user's authenticator app, and submits it.
 * @returns the path to which the app sends the user next.
 * @throws if a request fails; the error names the request and the code of the response.
 */
export async function signInWithMfa(
  agent: TestAgent | FetchAgent,
  { kit, factor, login, path = '/mfa' }: SignInOptions,
): Promise<string> {
  const send = senderFor(agent)
  const loginResult = login && (await passFirstFactor(send, login.path ?? '/login', login.fields))
  const chosen = await chooseFactor(send, path, factor, loginResult)
  const challenge = await step(send, `${path}/challenge`, { factor: chosen })
  const code = codeFor(kit, challenge)
  const { next } = await step(send, `${path}/verify`, { code, factor: String(challenge.factor) })
  return typeof next === 'string' ? next : '/'
}

function senderFor(agent: TestAgent | FetchAgent): Send {
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

async function step(send: Send, path: string, fields?: object): Promise<Fields> {
  const { status, body } = await send(path, fields)
  if (status < 400) return body
  const method = fields ? 'POST' : 'GET'
  throw new Error(
    `signInWithMfa: ${method} ${path} responded with ${status} ${String(body.code ?? '')}`.trim(),
  )
}

/** Submits the first factor and describes the response. */
async function passFirstFactor(send: Send, path: string, fields: object): Promise<string> {
  const { status, body } = await send(path, fields)
  const result = `POST ${path} responded with ${status}`
  // An agent that follows the redirect of the login is stopped by the gate, with a pending login as intended.
  if (status < 400 || body.code === 'mfa_required') return result
  throw new Error(`signInWithMfa: ${result} ${String(body.code ?? '')}`.trim())
}

async function chooseFactor(
  send: Send,
  path: string,
  wanted: string | undefined,
  loginResult: string | undefined,
): Promise<string> {
  const { factors, status } = await step(send, path)
  const offered = Array.isArray(factors) ? factors.map(asObject) : []
  const ids = offered.map(({ id }) => String(id))
  const [first] = ids
  if (first === undefined) {
    const problem = `there is no pending login, or its user has no factor (MFA status "${String(status)}")`
    throw new Error(`signInWithMfa: ${[problem, loginResult].filter(Boolean).join('; ')}`)
  }
  if (wanted === undefined) return first
  if (wanted === 'backup' || ids.includes(wanted) || offered.some(({ method }) => method === wanted)) {
    return wanted
  }
  throw new Error(`signInWithMfa: the user has no factor "${wanted}"; the app offers ${ids.join(', ')}`)
}

function codeFor(kit: MfaTestKit, { factor, to, delivery }: Fields): string {
  if (factor === 'backup') {
    const [newest] = kit.inbox.all().filter(({ codes }) => codes.length > 1)
    if (newest) return newest.code
    throw new Error('signInWithMfa: the inbox of the kit has no backup codes; request them first')
  }
  const isContactOfUser = (user: string) => {
    const contact = parseUser(user)
    return contact !== undefined && maskForOwner(contact) === to
  }
  if (delivery === 'none') {
    const user = kit.apps.users().find(isContactOfUser)
    if (user) return kit.apps.code(user)
    throw new Error(
      'signInWithMfa: the user has no authenticator app in the kit; add one with kit.apps.enroll(user)',
    )
  }
  const newest = kit.inbox.all().find((message) => isContactOfUser(message.to))
  if (newest) return newest.code
  throw new Error(
    'signInWithMfa: the code is not in the inbox of the kit; check that the option `service` is kit.service and that kit.carrier delivers',
  )
}

function asObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
