import { type Refused, type ServiceProblemCode, type Verb, writeBody } from 'countersign/protocol'
import type { Request, RequestHandler, Response } from 'express'
import type { FlowContext } from '../../flows/context.js'
import type { Operation } from '../../flows/idempotency/idempotent-requests.js'
import { parseVerb } from '../../flows/inputs.js'
import { takesBody, type VerbFlow } from '../../flows/verb-flows.js'
import { readObject } from '../../json.js'
import { callingApplication, runForAccount } from './authenticate.js'
import { rateLimitHeaders, requestId } from './headers.js'
import { type ProblemDetails, problem, refuse } from './problem.js'

/** The result of a flow: the body of a success, or a function that responds with a refusal. */
export type Outcome = { readonly body: object } | { readonly refuse: () => void }

/** Runs `work` for a request and responds, or responds without running it. */
export type Once = (
  request: Request,
  response: Response,
  application: string,
  work: (operation?: Operation) => Promise<Outcome>,
) => Promise<void>

/** The route of a verb: it validates the parameters, runs the flow for their account and responds with its result. */
export function flowRoute(context: FlowContext, { verb, flow }: VerbFlow, onceByKey: Once): RequestHandler {
  const once = verb.once ? onceByKey : always
  if (!takesBody(verb)) {
    return async function lookUp(request, response) {
      const answer = await flow(context, callingApplication(request), request.params)
      respond(response, createOutcome(verb, answer, request.params, response))
    }
  }
  return async function runFlow(request, response) {
    const parsed = parseVerb(verb, request.body)
    if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
    const input = parsed.value
    const application = callingApplication(request)
    const work = async (operation?: Operation) => {
      const own = { ...createContext(context, request, response), ...(operation && { operation }) }
      const answer = await flow(own, application, input)
      return createOutcome(verb, answer, input, response)
    }
    await runForAccount(context, input.account, request, response, () =>
      once(request, response, application.id, work),
    )
  }
}

const always: Once = async (_request, response, _application, work) => respond(response, await work())

function createOutcome(verb: Verb, answer: unknown, input: unknown, response: Response): Outcome {
  const fails = (code: ServiceProblemCode, details: ProblemDetails) => ({
    refuse: () => problem(response, code, details),
  })
  if (answer === undefined) return fails('not_found', { detail: verb.absent })
  if (isRefused(answer)) return { refuse: () => refuse(response, answer.refusal) }
  if (isInvalid(answer)) {
    const { outcome: _invalid, ...details } = answer
    return fails(verb.problems.includes('invalid_key') ? 'invalid_key' : 'invalid_code', details)
  }
  return { body: writeBody(verb, answer, input) }
}

/** Responds with the result of a flow, unless the time limit of the request has passed. */
export function respond(response: Response, outcome: Outcome): void {
  if (response.headersSent) return
  if ('body' in outcome) response.json(outcome.body)
  else outcome.refuse()
}

/** The context of one request: events carry its id, and its response the state of the budgets. */
function createContext(context: FlowContext, request: Request, response: Response): FlowContext {
  const id = requestId(request)
  return {
    ...context,
    requestId: id,
    log: (event) => context.log({ ...event, request: id }),
    onBudgets: (budgets) => void (response.headersSent || response.set(rateLimitHeaders(budgets))),
  }
}

function isRefused(answer: unknown): answer is Refused {
  return readObject(answer).outcome === 'refused'
}

function isInvalid(
  answer: unknown,
): answer is Pick<ProblemDetails, 'clockSteps' | 'fault'> & { readonly outcome: 'invalid' } {
  return readObject(answer).outcome === 'invalid'
}
