import type { Refused } from 'countersign/protocol'
import type { Request, RequestHandler, Response } from 'express'
import type { Application } from '../application.js'
import type { Reading } from '../verbs/requests.js'
import { type Applications, bearerKey } from './api-key.js'
import { problem, refuse } from './problem.js'

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

/** The application whose key came with the request. */
export function callingApplication(request: Request): Application {
  const application = applicationOf.get(request)
  if (!application) throw new Error('A route was reached without an API key.')
  return application
}

/** An answer of a verb that is not a refusal. */
export type Granted<Answer> = Exclude<Answer, Refused>

/** A route: reads the parameters, calls the verb and says what it refused; `answer` says everything else. */
export function call<Input, Answer extends { readonly outcome: string }>(
  read: (body: unknown) => Reading<Input>,
  verb: (application: Application, input: Input) => Promise<Answer | Refused>,
  answer: (response: Response, result: Granted<Answer>, input: Input) => void,
): RequestHandler {
  return async function callVerb(request, response) {
    const reading = read(request.body)
    if (!reading.ok) return problem(response, 'invalid_request', { errors: reading.faults })
    const result = await verb(callingApplication(request), reading.value)
    if (isRefused(result)) refuse(response, result.refusal)
    else answer(response, result as Granted<Answer>, reading.value)
  }
}

function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === 'refused'
}
