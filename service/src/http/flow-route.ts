import type { Refused, ServiceProblemCode } from 'countersign/protocol'
import type { Request, RequestHandler, Response } from 'express'
import type { Application } from '../application.js'
import type { Core } from '../flows/context.js'
import type { Reading } from '../requests/parse.js'
import { type Applications, bearerKey } from './authenticate.js'
import { type ProblemDetails, problem, refuse } from './problem.js'
import { rateLimitHeaders } from './rate-limit-headers.js'
import { requestId } from './request-id.js'

const applicationOf = new WeakMap<Request, Application>()

/** Lets only requests with an application's API key pass. Stands before the body is read. */
export function authenticate(applications: Applications): RequestHandler {
  return async function authenticateApplication(request, response, next) {
    const application = await applications(bearerKey(request))
    if (!application) return problem(response, 'invalid_api_key')
    applicationOf.set(request, application)
    next()
  }
}

/** The application whose key came with the request, if one did. */
export function applicationIdOf(request: Request): string | undefined {
  return applicationOf.get(request)?.id
}

/** The application whose key came with the request. */
export function callingApplication(request: Request): Application {
  const application = applicationOf.get(request)
  if (!application) throw new Error('A route was reached without an API key.')
  return application
}

/** An answer of a verb that is not a refusal. */
export type Granted<Answer> = Exclude<Answer, Refused>

/** A problem that a verb's answer amounts to. */
export interface Told extends ProblemDetails {
  readonly problem: ServiceProblemCode
}

/** A route as it is put together: what reads the parameters, what does the work, and what is said about it. */
export interface Call<Input, Answer extends { readonly outcome: string }> {
  readonly read: (body: unknown) => Reading<Input>
  readonly verb: (core: Core, application: Application, input: Input) => Promise<Answer | Refused>
  /** The body of the answer, or a problem. */
  readonly answer: (result: Granted<Answer>, input: Input) => object | Told
  /** Has a request with an Idempotency-Key done once only. */
  readonly once?: Once
}

/** What came of a call: the body of a success, or what tells a refusal. */
export type Outcome = { readonly body: object } | { readonly refuse: () => void }

/** Does `work` for a request and answers, or answers without it. */
export type Once = (
  request: Request,
  response: Response,
  asked: { readonly application: string; readonly input: unknown },
  work: () => Promise<Outcome>,
) => Promise<void>

/** A route: reads the parameters, calls the verb and says what came of it. */
export function call<Input, Answer extends { readonly outcome: string }>(
  core: Core,
  { read, verb, answer, once = always }: Call<Input, Answer>,
): RequestHandler {
  return async function callVerb(request, response) {
    const reading = read(request.body)
    if (!reading.ok) return problem(response, 'invalid_request', { errors: reading.faults })
    const input = reading.value
    const application = callingApplication(request)
    await once(request, response, { application: application.id, input }, async () => {
      const result = await verb(within(core, request, response), application, input)
      if (isRefused(result)) return { refuse: () => refuse(response, result.refusal) }
      const said = answer(result as Granted<Answer>, input)
      return isProblem(said) ? { refuse: () => problem(response, said.problem, said) } : { body: said }
    })
  }
}

const always: Once = async (_request, response, _asked, work) => tell(response, await work())

/** Answers with what came of a call. */
export function tell(response: Response, outcome: Outcome): void {
  if ('body' in outcome) response.json(outcome.body)
  else outcome.refuse()
}

/** The same parts for one request: events name it, and its answer tells what is left of the budgets. */
function within(core: Core, request: Request, response: Response): Core {
  const id = requestId(request)
  return {
    ...core,
    request: id,
    log: (event) => core.log({ ...event, request: id }),
    tellBudgets: (budgets) => response.set(rateLimitHeaders(budgets)),
  }
}

function isProblem(said: object | Told): said is Told {
  return 'problem' in said
}

function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === 'refused'
}
