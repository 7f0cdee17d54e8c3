import type * as z from 'zod'
import { ServiceError } from '../errors.js'
import type { Logger } from '../options/logger.js'
import { SERVICE_TIMEOUT_MS } from '../options/service.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import type { MfaService } from '../protocol/service.js'
import { returned } from '../protocol/verb.js'
import { withTimeout } from '../time.js'

/** Makes an invalid or late response of the host's own service an error: it would be stored in a session and make it void. */
export function validatedService(service: MfaService, logger: Logger): MfaService {
  const checked = mapVerbs(service, (name, verb, call) => {
    const schema = returned(verb)
    return async (request) => {
      if (service.started) await startOf(service.started(), logger)
      return validated(name, schema, call(request))
    }
  })
  const { approvals, codes } = service
  return { ...checked, ...(approvals && { approvals }), ...(codes && { codes }) }
}

/** Waits until a service in this process has started, and logs it if that takes a while. */
async function startOf(started: Promise<unknown>, logger: Logger): Promise<void> {
  const slow = setTimeout(() => logger.warn(`countersign: ${STARTING} A request waits for it.`), SLOW_MS)
  await withTimeout(started, START_MS, tooSlow).finally(() => clearTimeout(slow))
}

const SLOW_MS = 1_000
const START_MS = 30_000
const STARTING = 'The MFA service in this process is still starting.'

const tooSlow = () =>
  new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `${STARTING} The request waited for ${START_MS / 1_000} s. Repeat it in a few seconds.`,
    { retryAfterSeconds: 5 },
  )

async function validated(verb: string, schema: z.ZodType, answer: Promise<unknown>): Promise<unknown> {
  const parsed = schema.safeParse(await withTimeout(answer, SERVICE_TIMEOUT_MS, () => tooLate(verb)))
  if (parsed.success) return parsed.data
  // The message names the member and what was expected, never its value (R78).
  const faults = parsed.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim())
  throw new ServiceError(
    'ERR_MFA_SERVICE_ANSWER',
    `The object in the option service returned an invalid response from ${verb}: ${faults.join('; ')}.`,
  )
}

function tooLate(verb: string): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_TIMEOUT',
    `The object in the option service did not respond from ${verb} within ${SERVICE_TIMEOUT_MS} ms; a later response is ignored. Check what it waits for, and hand messages to a queue.`,
  )
}
