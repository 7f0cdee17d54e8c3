import { ServiceError } from '../errors.js'
import type { MfaService } from '../protocol/service.js'
import type { Refused } from '../protocol/service-refusal.js'
import { SERVICE_IDENTITY, serviceIdentity } from '../protocol/wire.js'
import type { ServiceSettings } from './address.js'
import { COUNTERSIGN, PUBLISHED } from './dialect.js'
import { dialectClient } from './dialect-client.js'
import { unsupportedJobs } from './job-client.js'
import { unsupportedLive } from './live-client.js'
import { type Answer, observedTransport, type Transport } from './transport.js'

/** Time limit for the question which API the service speaks, in addition to the time of the first call. */
const DETECTION_TIMEOUT_MS = 2_000

/** The answer about keys of a service that speaks the published API, which has none. */
const METHOD_OFF: Refused = { outcome: 'refused', refusal: { reason: 'method_off' } }

type Client = MfaService & { close(): Promise<void> }

/**
 * A client that asks the service once, before the first call, which API it speaks. The Countersign service says so by its
 * identity; a service that answers anything else speaks the published API. While the service cannot answer, every call
 * fails, so that a code is never checked with fewer guarantees than the service gives.
 */
export function detectingClient(settings: ServiceSettings, transport: Transport): Client {
  const own = dialectClient(settings, COUNTERSIGN, transport)
  const published = dialectClient(
    settings,
    PUBLISHED,
    // A captive portal may have answered for the service. Its first real response corrects that.
    observedTransport(transport, ({ isCountersign }) => {
      if (isCountersign) found = own
    }),
  )
  let found: Client | undefined
  let detection: Promise<Client> | undefined

  const detect = async () => {
    const answer = await transport
      .get(SERVICE_IDENTITY, Math.min(settings.timeoutMs, DETECTION_TIMEOUT_MS), { withKey: false })
      .catch((error: unknown) => {
        throw undetected(error)
      })
    if (isUndecided(answer)) throw undetected()
    found = isOwn(answer) ? own : published
    return found
  }
  const client = (): Client | Promise<Client> => {
    if (found) return found
    // Concurrent first calls ask once.
    detection ??= detect().finally(() => {
      detection = undefined
    })
    return detection
  }

  return {
    send: async (request) => (await client()).send(request),
    verify: async (request) => (await client()).verify(request),
    enrollApp: async (request) => (await client()).enrollApp(request),
    sendBackupCodes: async (request) => (await client()).sendBackupCodes(request),
    deliveryOf: async (request) => (await client()).deliveryOf?.(request),
    factorsOf: async (request) => (await client()).factorsOf?.(request),
    createBackupCodes: async (request) => (await client()).createBackupCodes?.(request),
    removeFactor: async (request) => (await client()).removeFactor?.(request),
    keys: {
      registrationOptions: async (request) =>
        (await client()).keys?.registrationOptions(request) ?? METHOD_OFF,
      register: async (request) => (await client()).keys?.register(request) ?? METHOD_OFF,
      authenticationOptions: async (request) =>
        (await client()).keys?.authenticationOptions(request) ?? METHOD_OFF,
      authenticate: async (request) => (await client()).keys?.authenticate(request) ?? METHOD_OFF,
      list: async (request) => (await client()).keys?.list(request) ?? METHOD_OFF,
      rename: async (request) => (await client()).keys?.rename(request) ?? METHOD_OFF,
      remove: async (request) => (await client()).keys?.remove(request) ?? METHOD_OFF,
      relyingParty: async () => (await client()).keys?.relyingParty(),
    },
    async *transcribeLive(audio, options) {
      const { transcribeLive = unsupportedLive.transcribeLive } = await client()
      yield* transcribeLive(audio, options)
    },
    async createStreamTicket() {
      const { createStreamTicket = unsupportedLive.createStreamTicket } = await client()
      return createStreamTicket()
    },
    async createTranscriptionJob(request) {
      const { createTranscriptionJob = unsupportedJobs.createTranscriptionJob } = await client()
      return createTranscriptionJob(request)
    },
    async transcriptionJob(id) {
      const { transcriptionJob = unsupportedJobs.transcriptionJob } = await client()
      return transcriptionJob(id)
    },
    async deleteTranscriptionJob(id) {
      const { deleteTranscriptionJob = unsupportedJobs.deleteTranscriptionJob } = await client()
      return deleteTranscriptionJob(id)
    },
    transcribe: async (request) => (await client()).transcribe(request),
    close: () => transport.close(),
  }
}

/** Whether an overloaded or failing service gave the response, which says nothing about its API. */
function isUndecided({ status }: Answer): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

function isOwn({ status, body, isCountersign }: Answer): boolean {
  if (isCountersign) return true
  if (status !== 200) return false
  try {
    return serviceIdentity.safeParse(JSON.parse(body)).success
  } catch {
    return false
  }
}

/** The call itself was not sent, so nothing is counted. */
function undetected(cause?: unknown): ServiceError {
  const failed = cause instanceof ServiceError ? cause : undefined
  return new ServiceError(
    failed?.code ?? 'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service did not say which API it speaks${failed ? `: ${failed.message}` : ', because it failed.'} If it never does, name its API in service.dialect.`,
    { cause, effect: 'none' },
  )
}
