import { formatUser, rows, ServiceError, type UserRequest } from 'countersign/protocol'
import type { Application } from '../application.js'
import { type Parsed, parseVerb } from '../requests/inputs.js'
import { EngineError } from '../transcription/engines/transcriber.js'
import { ACCOUNT_BUSY_SECONDS, type FlowContext } from './context.js'
import { takesBody, type VerbFlow } from './verb-flows.js'

/** The parameters of the HTTP API that name a user. */
export function userFields(request: UserRequest) {
  return {
    User: formatUser(request.contact),
    Account: request.account,
    ClientAddress: request.clientAddress,
    Locale: request.locale,
  }
}

/**
 * Runs a flow with valid parameters. Invalid ones throw a `ServiceError` with code `ERR_MFA_SERVICE_REQUEST`, a failing flow one with
 * `ERR_MFA_SERVICE_UNAVAILABLE`.
 */
export async function answer<Input, Answer>(
  parsed: Parsed<Input>,
  flow: (input: Input) => Promise<Answer>,
): Promise<Answer> {
  if (!parsed.ok) {
    const errors = parsed.errors.map(({ field, detail }) => `${field} ${detail}`).join('; ')
    throw new ServiceError('ERR_MFA_SERVICE_REQUEST', `The MFA service cannot use this request: ${errors}.`)
  }
  try {
    return await flow(parsed.value)
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    if (cause instanceof EngineError) {
      throw new ServiceError(
        'ERR_MFA_SERVICE_UNAVAILABLE',
        'The transcription engine of the MFA service failed. See its log.',
        { retryAfterSeconds: cause.retryAfterSeconds },
      )
    }
    throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'The MFA service in this process failed.', {
      cause: withoutDetails(cause),
    })
  }
}

/**
 * `answer` for flows about an account of one application, which is looked up for each call. If as many requests of the account are
 * under way as this process allows (R139), a call throws a `ServiceError` with code `ERR_MFA_SERVICE_BUSY`.
 */
export function accountAnswers(context: FlowContext, findApplication: () => Promise<Application>) {
  return <Input extends { readonly account: string }, Answer>(
    parsed: Parsed<Input>,
    flow: (context: FlowContext, application: Application, input: Input) => Promise<Answer>,
  ): Promise<Answer> =>
    answer(parsed, async (input) => {
      const application = await findApplication()
      const leave = context.underWay.enter(application, input.account)
      if (!leave) throw accountBusy()
      try {
        return await flow(context, application, input)
      } finally {
        leave()
      }
    })
}

/** The methods of these verbs without HTTP. They validate the same parameters as the routes. */
export function inProcessVerbs<Service extends object>(
  flows: { readonly [Name in keyof Service]: VerbFlow },
  context: FlowContext,
  findApplication: () => Promise<Application>,
): Service {
  const ofAccount = accountAnswers(context, findApplication)
  const methodOf = ({ verb, flow }: VerbFlow) => {
    if (!takesBody(verb)) {
      return (request: unknown) =>
        answer({ ok: true, value: request }, async () => flow(context, await findApplication(), request))
    }
    return (request: UserRequest) =>
      ofAccount(parseVerb(verb, { ...userFields(request), ...rows.ownParametersOf(verb, request) }), flow)
  }
  const methods = Object.entries<VerbFlow>(flows).map(([name, verbFlow]) => [name, methodOf(verbFlow)])
  return Object.fromEntries(methods)
}

function accountBusy(): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_BUSY',
    'The MFA service is handling as many requests of this account as it allows. The limit is the option requestsPerAccount.',
    { retryAfterSeconds: ACCOUNT_BUSY_SECONDS },
  )
}

/**
 * An error without its other properties: a database error carries the statement and the row, and with them a contact,
 * which the host would log together with our error (R89).
 */
function withoutDetails(cause: unknown): unknown {
  if (!(cause instanceof Error)) return undefined
  const { name, message, stack } = cause
  const code: unknown = Reflect.get(cause, 'code')
  const bare = Object.assign(new Error(message), { name, ...(typeof code === 'string' && { code }) })
  if (stack !== undefined) bare.stack = stack
  return bare
}
