import type { Refused, ServiceProblemCode } from 'countersign/protocol'
import type { Request, RequestHandler, Response } from 'express'
import type { Application } from '../application.js'
import type { FlowContext } from '../flows/context.js'
import type { Parsed } from '../requests/parse.js'
import { forAccount } from './account-request.js'
import { callingApplication } from './authenticate.js'
import { type ProblemDetails, problem, refuse } from './problem.js'
import { rateLimitHeaders } from './rate-limit-headers.js'
import { requestId } from './request-id.js'

/** The answer of a flow, unless it is a refusal. */
export type Granted<Answer> = Exclude<Answer, Refused>

/** A problem to respond with. */
export interface ProblemResponse extends ProblemDetails {
  readonly problem: ServiceProblemCode
}

/** The parts of a route that runs a flow. */
export interface FlowRoute<Input, Answer extends { readonly outcome: string }> {
  readonly parse: (body: unknown) => Parsed<Input>
  readonly flow: (context: FlowContext, application: Application, input: Input) => Promise<Answer | Refused>
  /** The body of the response, or a problem. */
  readonly toBody: (answer: Granted<Answer>, input: Input) => object | ProblemResponse
  /** Runs a request with an Idempotency-Key only once. Defaults to running every request. */
  readonly once?: Once
}

/** The result of a flow: the body of a success, or a function that responds with a refusal. */
export type Outcome = { readonly body: object } | { readonly refuse: () => void }

/** Runs `work` for a request and responds, or responds without running it. */
export type Once = (
  request: Request,
  response: Response,
  keyed: { readonly application: string; readonly input: unknown },
  work: () => Promise<Outcome>,
) => Promise<void>

/** A route that validates the parameters, runs a flow for their account and responds with its result. */
export function flowRoute<
  Input extends { readonly account: string },
  Answer extends { readonly outcome: string },
>(context: FlowContext, { parse, flow, toBody, once = always }: FlowRoute<Input, Answer>): RequestHandler {
  return async function runFlow(request, response) {
    const parsed = parse(request.body)
    if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
    const input = parsed.value
    const application = callingApplication(request)
    const work = async () => {
      const answer = await flow(contextOf(context, request, response), application, input)
      if (isRefused(answer)) return { refuse: () => refuse(response, answer.refusal) }
      const body = toBody(answer as Granted<Answer>, input)
      return isProblem(body) ? { refuse: () => problem(response, body.problem, body) } : { body }
    }
    await forAccount(context, input.account, request, response, () =>
      once(request, response, { application: application.id, input }, work),
    )
  }
}

const always: Once = async (_request, response, _keyed, work) => respond(response, await work())

/** Responds with the result of a flow, unless the time limit of the request has passed. */
export function respond(response: Response, outcome: Outcome): void {
  if (response.headersSent) return
  if ('body' in outcome) response.json(outcome.body)
  else outcome.refuse()
}

/** The context of one request: events carry its id, and its response the state of the budgets. */
function contextOf(context: FlowContext, request: Request, response: Response): FlowContext {
  const id = requestId(request)
  return {
    ...context,
    requestId: id,
    log: (event) => context.log({ ...event, request: id }),
    onBudgets: (budgets) => void (response.headersSent || response.set(rateLimitHeaders(budgets))),
  }
}

function isProblem(body: object | ProblemResponse): body is ProblemResponse {
  return 'problem' in body
}

function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === 'refused'
}
