import { ServiceError } from '../errors.js'
import type { DeliveredMethod } from '../protocol/methods.js'
import type { Refused as ServiceRefused } from '../protocol/service-refusal.js'
import type { Message, SendPermit } from '../stores/limits/budgets.js'
import { type Deps, type Refused, refuse } from './deps.js'
import { type Refusal, translateRefusal } from './refusal.js'
import { askService } from './user.js'

/** The service accepted the message; `resendInSeconds` is the plugin's own wait before the next one. */
export interface Delivered<Answer> {
  readonly outcome: 'delivered'
  readonly answer: Exclude<Answer, ServiceRefused>
  readonly resendInSeconds: number
}

/** Counts a message and has the service send it. It is refunded only if it was certainly not sent (R43, R77). */
export async function deliver<Answer extends { readonly outcome: string }>(
  deps: Deps,
  { method, ...message }: Message & { readonly method?: DeliveredMethod },
  send: (permit: SendPermit & { readonly ok: true }) => Promise<Answer | ServiceRefused>,
): Promise<Delivered<Answer> | Refused> {
  const { messageBudget, emit } = deps
  const { userId } = message
  const refuseDelivery = (refusal: Refusal): Refused => {
    emit({ type: 'refused', userId, ...(method && { method }), code: refusal.code })
    return refuse(refusal)
  }
  const permit = await messageBudget.consume(message)
  if (!permit.ok) {
    const { why, retryAfterSeconds } = permit
    return refuseDelivery(
      why === 'disabled' ? { code: 'factor_disabled' } : { code: MESSAGE_REFUSALS[why], retryAfterSeconds },
    )
  }
  const answer = await askService(
    deps,
    userId,
    () => send(permit),
    async (error) => {
      if (!mayHaveBeenSent(error)) await messageBudget.refund(message)
    },
  )
  if (isRefused(answer)) {
    await messageBudget.refund(message)
    return refuseDelivery(translateRefusal(answer.refusal))
  }
  return {
    outcome: 'delivered',
    answer: answer as Exclude<Answer, ServiceRefused>,
    resendInSeconds: permit.resendInSeconds,
  }
}

const MESSAGE_REFUSALS = {
  too_soon: 'resend_too_soon',
  too_many: 'too_many_messages',
  locked: 'locked',
} as const

/** True also for an unexpected error, such as a bug in the host's own service: it says nothing about the message. */
function mayHaveBeenSent(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.effect === 'unknown'
}

function isRefused(answer: { readonly outcome: string }): answer is ServiceRefused {
  return answer.outcome === 'refused'
}
