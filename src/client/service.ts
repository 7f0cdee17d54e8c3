import { ServiceError } from '../errors.js'
import { SERVICE_IDENTITY, serviceIdentity } from '../protocol/wire.js'
import type { ServiceSettings } from './address.js'
import { COUNTERSIGN } from './dialect.js'
import { dialectClient, type HttpService } from './dialect-client.js'
import { type Answer, httpTransport, observedTransport, type Transport } from './transport.js'

/** What the client finds out about the service. */
export interface ServiceObserver {
  /** Called at a response of the Countersign service to a client that does not use its additions. */
  onOwnService?(): void
  /** Called when the answer of a service without a configured dialect is not that of the Countersign service. */
  onUnrecognized?(): void
}

/**
 * The client of an MFA service over HTTP, in the dialect of `settings`. If they name none, the service must be the Countersign
 * service and say so before the first call.
 */
export function httpService(
  settings: ServiceSettings,
  { onOwnService, onUnrecognized }: ServiceObserver = {},
  transport: Transport = httpTransport(settings),
): HttpService {
  const { dialect, timeoutMs } = settings
  if (dialect === 'detect') {
    return dialectClient(settings, COUNTERSIGN, identifiedTransport(transport, timeoutMs, onUnrecognized))
  }
  if (dialect.extras || !onOwnService) return dialectClient(settings, dialect, transport)
  const observed = observedTransport(transport, ({ isCountersign }) => {
    if (isCountersign) onOwnService()
  })
  return dialectClient(settings, dialect, observed)
}

/** Time limit for the question which service it is, in addition to the time of the first call. */
const IDENTITY_TIMEOUT_MS = 2_000

/**
 * Sends nothing before the service has identified itself as the Countersign service. Any other answer may be that of a proxy, a
 * captive portal or a deployment, so it decides nothing (R131): the call fails, and the next one asks again. `onUnrecognized` is
 * called for every such answer except the failure of an overloaded or broken service.
 */
function identifiedTransport(
  transport: Transport,
  timeoutMs: number,
  onUnrecognized: () => void = () => {},
): Transport {
  let isIdentified = false
  let asking: Promise<void> | undefined

  const ask = async () => {
    const limitMs = Math.min(timeoutMs, IDENTITY_TIMEOUT_MS)
    const answer = await transport
      .get(SERVICE_IDENTITY, limitMs, { withKey: false })
      .catch((error: unknown) => {
        throw unidentified('could not be asked', error)
      })
    isIdentified = isCountersign(answer)
    if (isIdentified) return
    if (isOutage(answer)) throw unidentified(`failed (status ${answer.status})`)
    onUnrecognized()
    throw unidentified(`gave another answer (status ${answer.status})`)
  }
  const identify = async () => {
    if (isIdentified) return
    // Concurrent first calls ask once.
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
  }
  const afterwards =
    <Args extends unknown[]>(call: (...args: Args) => Promise<Answer>) =>
    async (...args: Args) => {
      await identify()
      return call(...args)
    }

  return {
    identify,
    post: afterwards(transport.post),
    upload: afterwards(transport.upload),
    get: afterwards(transport.get),
    delete: afterwards(transport.delete),
    close: () => transport.close(),
  }
}

function isCountersign({ status, body, isCountersign }: Answer): boolean {
  if (isCountersign) return true
  if (status !== 200) return false
  try {
    return serviceIdentity.safeParse(JSON.parse(body)).success
  } catch {
    return false
  }
}

/** Whether the response is that of an overloaded or failing service. */
function isOutage({ status }: Answer): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** The call itself was not sent, so nothing is counted. */
function unidentified(what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service has not identified itself as the Countersign service: GET ${SERVICE_IDENTITY} ${what}. Nobody is signed in until it does. Check service.baseUrl, and what answers there. If the service speaks the published API, set service.dialect to 'published'.`,
    { cause, effect: 'none' },
  )
}
