import type * as z from 'zod'
import { ServiceError } from '../errors.js'
import type { Logger } from '../options/logger.js'
import { SERVICE_TIMEOUT_MS } from '../options/service.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import type { MfaService } from '../protocol/service.js'
import { createReturned } from '../protocol/verb.js'
import { limitTime } from '../time.js'

/** Makes an invalid or late response of the host's own service an error: it would be stored in a session and make it void. */
export function validatedService(service: MfaService, logger: Logger): MfaService {
  const checked = mapVerbs(service, (name, verb, call) => {
    const schema = createReturned(verb)
    return async (request) => {
      if (service.started) await startOf(service.started(), logger)
      return validateAnswer(name, schema, call(request))
    }
  })
  const { approvals, codes } = service
  return { ...checked, ...(approvals && { approvals }), ...(codes && { codes }) }
}

/** How long a call waits for the start, in milliseconds, and when the log says so. */
const [START_MS, SLOW_MS] = [30_000, 1_000]

/** Waits until a service in this process has started. */
async function startOf(started: Promise<unknown>, logger: Logger): Promise<void> {
  const starting = 'The MFA service in this process is still starting'
  const slow = setTimeout(() => logger.warn(`countersign: ${starting}. A request waits for it.`), SLOW_MS)
  const message = `${starting}. The request waited for ${START_MS / 1_000} s. Repeat it in a few seconds.`
  const createTimeoutError = () =>
    new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 5 })
  await limitTime(started, START_MS, createTimeoutError).finally(() => clearTimeout(slow))
}

async function validateAnswer(verb: string, schema: z.ZodType, answer: Promise<unknown>): Promise<unknown> {
  const parsed = schema.safeParse(await limitTime(answer, SERVICE_TIMEOUT_MS, () => createLateError(verb)))
  if (parsed.success) return parsed.data
  // The message names the member and what was expected, never its value (R78).
  const faults = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim())
  throw new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The object in the option service returned an invalid response from ${verb}: ${faults.join('; ')}.`,
  )
}

function createLateError(verb: string): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_TIMEOUT',
    `The object in the option service did not respond from ${verb} within ${SERVICE_TIMEOUT_MS} ms; a later response is ignored. Check what it waits for, and hand messages to a queue.`,
  )
}
