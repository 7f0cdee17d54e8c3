import type { deliveryAnswer } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import type * as z from 'zod'
import { deliveryState } from '../../delivery/delivery-state.js'
import type { Store } from '../../store/store.js'
import { callingApplication } from '../flow-route.js'
import { problem } from '../problem.js'

/** `GET /v1/mfa/deliveries/{challenge}`: how the latest message of one of the application's challenges stands. */
export function deliveryRoute(store: Store): RequestHandler<{ challenge: string }> {
  return async function tellDelivery(request, response) {
    const { challenge } = request.params
    const state = /^[\w-]{1,128}$/.test(challenge)
      ? await deliveryState(store, callingApplication(request).id, challenge)
      : undefined
    if (!state) return problem(response, 'not_found', { detail: 'There is no message for this challenge.' })
    const { updatedAt, ...told } = state
    const answer: z.output<typeof deliveryAnswer> = { ...told, updated_at: new Date(updatedAt).toISOString() }
    response.json(answer)
  }
}
