import type { Message } from '../limits/sends.js'
import type { Refused as ServiceRefused } from '../protocol/service.js'
import { type Deps, type Refused, refuse, tellFailure } from './deps.js'
import { fromService } from './service-refusal.js'

/** The service took the message; `resendInSeconds` is our own wait before the next one. */
export interface Delivered<Answer> {
  readonly outcome: 'delivered'
  readonly answer: Exclude<Answer, ServiceRefused>
  readonly resendInSeconds: number
}

/** Counts a message, has the service send it, and gives it back to the budget when it did not go out (R43, R77). */
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
  const answer = await send().catch(async (error: unknown) => {
    tellFailure(deps, message.userId, error)
    await sends.giveBack(message)
    throw error
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

function isRefused(answer: { readonly outcome: string }): answer is ServiceRefused {
  return answer.outcome === 'refused'
}
