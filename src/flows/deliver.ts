import { ServiceError } from '../errors.js'
import type { Message } from '../limits/budgets.js'
import type { Refused as ServiceRefused } from '../protocol/service.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { fromService } from './refusal.js'

/** The service took the message; `resendInSeconds` is our own wait before the next one. */
export interface Delivered<Answer> {
  readonly outcome: 'delivered'
  readonly answer: Exclude<Answer, ServiceRefused>
  readonly resendInSeconds: number
}

/**
 * Counts a message and has the service send it. Gives it back to the budget when it certainly did not go out (R77); one
 * that may have gone out stays counted, and so does the wait, or a service that is slow would send without end (R43).
 */
export async function deliver<Answer extends { readonly outcome: string }>(
  deps: Deps,
  message: Message,
  send: () => Promise<Answer | ServiceRefused>,
): Promise<Delivered<Answer> | Refused> {
  const { messageBudget } = deps
  const permit = await messageBudget.consume(message)
  if (!permit.ok) {
    const code = permit.why === 'too_soon' ? 'resend_too_soon' : 'too_many_messages'
    return refuse({ code, retryAfterSeconds: permit.retryAfterSeconds })
  }
  const answer = await askService(deps, message.userId, send, async (error) => {
    if (!mayHaveGoneOut(error)) await messageBudget.refund(message)
  })
  if (isRefused(answer)) {
    await messageBudget.refund(message)
    return refuse(fromService(answer.refusal))
  }
  return {
    outcome: 'delivered',
    answer: answer as Exclude<Answer, ServiceRefused>,
    resendInSeconds: permit.resendInSeconds,
  }
}

/** Nothing is known of what came before an error of any other kind, such as a bug in a service of the host's own. */
function mayHaveGoneOut(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.effect === 'unknown'
}

function isRefused(answer: { readonly outcome: string }): answer is ServiceRefused {
  return answer.outcome === 'refused'
}

/**
 * Asks the service. When it fails, by rejecting or by throwing at once, the host is told (R89) and `takeBack` undoes
 * what was counted beforehand; an error of any other kind than a `ServiceError` is the host's own to find.
 * @throws whatever the service failed with.
 */
export async function askService<Answer>(
  { emit }: Pick<Deps, 'emit'>,
  userId: string,
  call: () => Promise<Answer>,
  takeBack?: (error: unknown) => Promise<void>,
): Promise<Answer> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ServiceError) emit({ type: 'service_failed', userId, errorCode: error.code })
    await takeBack?.(error)
    throw error
  }
}
