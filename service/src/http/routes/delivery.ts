import type { wire } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import type * as z from 'zod'
import { deliveryState } from '../../delivery/delivery-state.js'
import type { Store } from '../../store/store.js'
import { callingApplication } from '../authenticate.js'
import { problem } from '../problem.js'

/** `GET /v1/mfa/deliveries/{challenge}`: the delivery state of the latest message of one of the application's challenges. */
export function deliveryRoute(store: Store): RequestHandler<{ challenge: string }> {
  return async function showDelivery(request, response) {
    const { challenge } = request.params
    const state = /^[\w-]{1,128}$/.test(challenge)
      ? await deliveryState(store, callingApplication(request).id, challenge)
      : undefined
    if (!state) return problem(response, 'not_found', { detail: 'This challenge has no message.' })
    const { updatedAt, ...rest } = state
    const answer: z.output<typeof wire.deliveryAnswer> = {
      ...rest,
      updated_at: new Date(updatedAt).toISOString(),
    }
    if (!response.headersSent) response.json(answer)
  }
}
