import type { IdempotentRequests } from '../../flows/idempotency/idempotent-requests.js'
import { describeError, type Logger } from '../../telemetry/log/logger.js'
import { type Once, respond } from './flow-route.js'
import { requestId } from './headers.js'
import { problem, refuseField } from './problem.js'

const HEADER = 'Idempotency-Key'
const FORMAT = /^[\x21-\x7e]{1,128}$/
const RETRY_AFTER_SECONDS = 1
const VERSION = 1

/** A request as it was sent, the same as JSON and as a form: nothing that this release makes of it, so that upgrades do not change it. */
function listContent(path: string, body: unknown): (string | number)[] {
  const parameters = Object.entries(body ?? {})
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return [VERSION, path, ...parameters.flat()]
}

/**
 * Runs a request with an `Idempotency-Key` once: the same request gets the same response for 24 h, and another request
 * with the same key is refused. Only successes are stored: after a refusal the key can be used again. After a failure,
 * the same request continues what it began.
 */
export function createOnceByKey(requests: IdempotentRequests, log: Logger): Once {
  return async function runOnce(request, response, application, work) {
    const key = request.get(HEADER)
    if (key === undefined) return respond(response, await work())
    if (!FORMAT.test(key)) {
      return refuseField(response, HEADER, 'must be 1 to 128 visible ASCII characters, for example a UUID')
    }
    const content = listContent(request.path, request.body)
    const acquired = await requests.acquire({ application, key, content })
    if (acquired.outcome === 'other_request') return problem(response, 'idempotency_key_reused')
    if (acquired.outcome === 'in_flight') {
      return problem(response, 'idempotency_key_in_flight', { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
    if (response.headersSent) {
      if (acquired.outcome === 'first') await acquired.release()
      return
    }
    if (acquired.outcome === 'answered') {
      response.set('Idempotency-Replayed', 'true').json(acquired.answer)
      return
    }
    const logUnavailable = (error: unknown) => {
      // The message was sent, so the request succeeds even if its response cannot be stored.
      const fields = { application, request: requestId(request), detail: describeError(error) }
      log({ level: 'error', event: 'idempotency.unavailable', ...fields })
    }
    const release = () => acquired.release().catch(logUnavailable)
    const outcome = await work(acquired.operation).catch(async (error: unknown) => {
      // A commit whose answer is lost may have happened: a new operation would send a second code.
      await acquired.abandon().catch(logUnavailable)
      throw error
    })
    // Before responding, so that an immediate repetition finds the stored response.
    if ('body' in outcome) await acquired.keep(outcome.body).catch(logUnavailable)
    else await release()
    respond(response, outcome)
  }
}
