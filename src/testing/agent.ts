import { readObject } from '../json.js'
/** The part of a response that the functions for signing in read. */
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

/** The first factor of a user. */
export interface FirstFactor {
  /** The path of the app's login route. Defaults to `/login`. */
  readonly path?: string | undefined
  /** The fields to post there. */
  readonly fields: Readonly<Record<string, string>>
}

/** An object whose members are unknown. */
export type Fields = Readonly<Record<string, unknown>>

/** Which factor to sign in with. */
interface Choice {
  /** The first factor, if the agent has not passed it. */
  readonly login?: FirstFactor | undefined
  /** The id or method of a factor, or `backup`. Defaults to the first factor that can be used. */
  readonly wanted?: string | undefined
  /** Whether a factor with this method can be used. */
  readonly canUse: (method: string) => boolean
}

/** Approves a request of the user. Gets the id of the approval that the app asked for. */
export type Approve = (approval: string) => Promise<unknown>

/** The requests of a user's browser to an app. */
export interface AppRequests {
  /**
   * Requests a path: POST with a body, otherwise GET, and once more after `approve` if the app asks for an approval. @throws if the app
   * refuses; the error names request and code.
   */
  step(path: string, body?: object, approve?: Approve): Promise<Fields>
  /** Passes the first factor. Returns the id, the method or `backup` for the second one. @throws if it is not offered. */
  chooseFactor(path: string, choice: Choice): Promise<string>
}

/**
 * The requests of an agent. Their errors name the function that the test called.
 * @param reference - of the login of a client without cookies, if it is known. Otherwise that of the first answer with one is sent.
 */
export function createRequests(
  agent: TestAgent | FetchAgent,
  caller: string,
  reference?: string,
): AppRequests {
  let held = reference
  const request = createSender(agent)
  const send: Send = async (path, body) => {
    const answer = await request(path, body, held)
    if (typeof answer.body.login === 'string') held = answer.body.login
    return answer
  }
  const fail = (...problem: readonly unknown[]) => new Error(`${caller}: ${problem.join(' ')}`.trim())

  const step = async (path: string, body?: object, approve?: Approve): Promise<Fields> => {
    const answer = await send(path, body)
    if (answer.status < 400) return answer.body
    const { id } = readObject(answer.body.approval)
    if (approve && typeof id === 'string') {
      await approve(id)
      return step(path, body)
    }
    throw fail(getMethod(body), path, 'responded with', answer.status, answer.body.code ?? '')
  }

  /** Submits the first factor and describes the response. */
  const passFirstFactor = async ({ path = '/login', fields }: FirstFactor): Promise<string> => {
    const { status, body } = await send(path, fields)
    const result = `POST ${path} responded with ${status}`
    // An agent that follows the redirect of the login is stopped by the gate, with a pending login as intended.
    if (status < 400 || body.code === 'mfa_required') return result
    throw fail(result, body.code ?? '')
  }

  return {
    step,
    async chooseFactor(path, { login, wanted, canUse }) {
      const result = login && (await passFirstFactor(login))
      const { factors, status } = await step(path)
      const offered = listOf(factors)
      if (offered.length === 0) {
        const problem = `there is no pending login, or its user has no factor (MFA status "${String(status)}")`
        throw fail([problem, result].filter(Boolean).join('; '))
      }
      const ids = offered.map(({ id }) => String(id))
      const first = offered.find(({ method }) => canUse(String(method)))
      const isOffered = offered.some(({ id, method }) => id === wanted || method === wanted)
      if (wanted === 'backup' || (wanted !== undefined && isOffered)) return wanted
      if (wanted === undefined && first) return String(first.id)
      const missing = wanted === undefined ? 'that this function can use' : `"${wanted}"`
      throw fail(`the user has no factor ${missing}; the app offers ${ids.join(', ')}`)
    },
  }
}

/** Requests a path: POST with a body, otherwise GET. */
type Send = (path: string, body?: object) => Promise<{ readonly status: number; readonly body: Fields }>

function createSender(
  agent: TestAgent | FetchAgent,
): (path: string, body: object | undefined, reference: string | undefined) => ReturnType<Send> {
  const type = 'application/json'
  return async (path, body, reference) => {
    const own = { Accept: type, ...(reference !== undefined && { 'MFA-Login': reference }) }
    if ('post' in agent) {
      const asked = body ? agent.post(path) : agent.get(path)
      for (const [name, value] of Object.entries(own)) asked.set(name, value)
      const answer = await (body ? asked.send(body) : asked)
      return { status: answer.status, body: readObject(answer.body) }
    }
    const headers = { ...own, ...(body && { 'Content-Type': type }) }
    const answer = await agent(path, {
      method: getMethod(body),
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: readObject(await answer.json().catch(() => undefined)) }
  }
}

function getMethod(body: object | undefined): 'GET' | 'POST' {
  return body ? 'POST' : 'GET'
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(readObject) : []
}
