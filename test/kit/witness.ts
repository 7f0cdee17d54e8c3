import { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { problemAnswer } from '../../src/routes/answers.js'
import { getAnswer, listProblems, listRoutes } from '../../src/routes/routes.js'
import { getStatus, PROBLEM_CODES } from '../../src/web/http/problem.js'

/** The answers of routes that their rows do not list. */
const unlisted: string[] = []

const WATCHED = Symbol.for('countersign.watchedRoutes')

const rows = new Map<string, Row>(
  listRoutes().map((operation) => [
    operation.route,
    { problems: listProblems(operation), answer: operation.answer, ofTokens: getAnswer(operation) },
  ]),
)

/** Reads every answer of the routes in this process from now on. */
export function watchRoutes(): void {
  const { write, end } = ServerResponse.prototype
  if (WATCHED in end) return
  const written = new WeakMap<ServerResponse, Buffer[]>()
  const note = (res: ServerResponse, chunk: unknown) => {
    if (!isRoute(res)) return
    const chunks = written.get(res) ?? []
    written.set(res, chunks)
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }
  // The session middleware holds the last byte of a body back until it has saved the session.
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    note(this, given[0])
    return Reflect.apply(write, this, given)
  } as typeof write
  function watchedEnd(this: ServerResponse, ...given: unknown[]): unknown {
    note(this, given[0])
    const fault = faultOf(this, Buffer.concat(written.get(this) ?? []).toString())
    if (fault) unlisted.push(fault)
    return Reflect.apply(end, this, given)
  }
  ServerResponse.prototype.end = Object.assign(watchedEnd, { [WATCHED]: true }) as typeof end
}

/** Returns what the routes have answered since the last call that their rows do not list. */
export function takeUnlisted(): string[] {
  return unlisted.splice(0)
}

function faultOf(res: ServerResponse, body: string): string | undefined {
  const { route, method = '' } = requestOf(res)
  if (!route || !isRoute(res) || res.statusCode === 405) return undefined
  const name = `${method === 'HEAD' ? 'GET' : method} ${route.path}`
  const row = rows.get(name)
  const type = String(res.getHeader('content-type') ?? '').split(';')[0]
  const { headers } = res.req
  const hasTokens = headers['mfa-login'] !== undefined || headers.authorization !== undefined
  const answer = hasTokens ? row?.ofTokens : row?.answer
  // To HEAD, there is no body.
  const fault = !row ? 'has no row' : body && faultByRow({ ...row, answer }, res.statusCode, type, body)
  return fault ? `${name} ${fault}` : undefined
}

function isRoute(res: ServerResponse): boolean {
  return requestOf(res).route?.stack?.some(({ name }) => name === 'mfaRoute') ?? false
}

function requestOf({ req }: ServerResponse): typeof req & { route?: MatchedRoute } {
  return req
}

interface Row {
  readonly problems: ReturnType<typeof listProblems>
  /** The JSON of a success, and that to a client with tokens. */
  readonly answer: z.ZodType | undefined
  readonly ofTokens: z.ZodType | undefined
}

interface MatchedRoute {
  readonly path: unknown
  readonly stack?: readonly { readonly name: string }[]
}

function faultByRow(
  { problems, answer }: Pick<Row, 'problems' | 'answer'>,
  status: number,
  type: string | undefined,
  body: string,
): string | undefined {
  const mayBe = (wanted: number) => [...problems].some((code) => getStatus(code) === wanted)
  if (type === 'application/problem+json') {
    const problem: { readonly code?: unknown } = JSON.parse(body)
    const given = problem.code
    const code = PROBLEM_CODES.find((known) => known === given)
    if (!fits(problemAnswer, problem)) return `answers a problem with other members: ${body.slice(0, 200)}`
    if (!code || !problems.has(code)) return `answers ${status} ${given}, which it does not list`
    // An invalid response of the service.
    const isOfService =
      status === 502 && code.endsWith('_unavailable') && problems.has('service_misconfigured')
    return status === getStatus(code) || isOfService ? undefined : `answers ${given} with ${status}`
  }
  if (type === 'application/json') {
    // An error in another form than a problem is one of the host's.
    const isListed = status >= 400 || (answer && fits(answer, JSON.parse(body)))
    return isListed ? undefined : `answers ${status} with JSON that it does not list: ${body.slice(0, 200)}`
  }
  const isKnown = [200, 303, 500, 502].includes(status) || mayBe(status)
  return isKnown ? undefined : `answers ${status}, which it does not list`
}

/** Whether a value has the members that a schema lists, and no others. */
function fits(schema: z.core.$ZodType, value: unknown): boolean {
  if (schema instanceof z.ZodUnion) return schema.options.some((option) => fits(option, value))
  return isDeepStrictEqual(z.safeParse(schema, value).data, value)
}
