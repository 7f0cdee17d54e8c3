import { ServiceError } from '../errors.js'
import type { Message } from '../limits/sends.js'
import type { Refused as ServiceRefused } from '../protocol/service.js'
import { askService } from './ask-service.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { fromService } from './service-refusal.js'

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
  const { sends } = deps
  const permit = await sends.spend(message)
  if (!permit.ok) {
    const code = permit.why === 'too_soon' ? 'resend_too_soon' : 'too_many_messages'
    return refuse({ code, retryAfterSeconds: permit.retryAfterSeconds })
  }
  const answer = await askService(deps, message.userId, send, async (error) => {
    if (!mayHaveGoneOut(error)) await sends.giveBack(message)
  })
  if (isRefused(answer)) {
    await sends.giveBack(message)
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
