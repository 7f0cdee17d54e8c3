import type { IdempotentRequests } from '../idempotency/idempotent-requests.js'
import { describe, type Logger } from '../log/logger.js'
import { type Once, tell } from './flow-route.js'
import { problem } from './problem.js'
import { requestId } from './request-id.js'

const HEADER = 'Idempotency-Key'
const SHAPE = /^[\x21-\x7e]{1,128}$/
const ASK_AGAIN_SECONDS = 1

/**
 * Has a request with an `Idempotency-Key` done once: the same request gets the same answer for 24 h, another one with
 * the same key is refused. Only what was done is remembered: after a refusal the key may be tried again.
 */
export function onceByKey(requests: IdempotentRequests, log: Logger): Once {
  return async function doOnce(request, response, { application, input }, work) {
    const key = request.get(HEADER)
    if (key === undefined) return tell(response, await work())
    if (!SHAPE.test(key)) {
      const detail = 'must be 1 to 128 visible ASCII characters, like a UUID'
      return problem(response, 'invalid_request', { errors: [{ field: HEADER, detail }] })
    }
    const content = [request.path, JSON.stringify(input)]
    const claim = await requests.claim({ application, key, content })
    if (claim.outcome === 'other_request') return problem(response, 'idempotency_key_reused')
    if (claim.outcome === 'in_flight') {
      return problem(response, 'idempotency_key_in_flight', { retryAfterSeconds: ASK_AGAIN_SECONDS })
    }
    if (claim.outcome === 'answered') {
      response.set('Idempotency-Replayed', 'true').json(claim.answer)
      return
    }
    const tellUnavailable = (error: unknown) => {
      // The message has left: an answer that could not be remembered is an answer all the same.
      const about = { application, request: requestId(request), detail: describe(error) }
      log({ level: 'error', event: 'idempotency.unavailable', ...about })
    }
    const forget = () => claim.release().catch(tellUnavailable)
    const outcome = await work().catch(async (error: unknown) => {
      await forget()
      throw error
    })
    // Before the answer: whoever asks again at once must not meet the request it has just seen answered.
    if ('body' in outcome) await claim.keep(outcome.body).catch(tellUnavailable)
    else await forget()
    tell(response, outcome)
  }
}
