import { randomUUID } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { jsonIn } from '../json.js'
import { COUNTERSIGN, type Dialect } from '../options/dialect.js'
import type { ServiceSettings } from '../options/service.js'
import { type Caller, formatUser } from '../protocol/contact.js'
import { KEY_VERBS, KEYS_PATH } from '../protocol/key-verbs.js'
import { type BackupMethod, type CodeKind, VERIFY_TYPE } from '../protocol/methods.js'
import type { CompleteMfaService, KeyVerbs, MfaService, RequestOf } from '../protocol/service.js'
import { SIGN_IN_SCOPES, VERBS } from '../protocol/verbs.js'
import {
  API_KEY_INFO,
  apiKeyInfo,
  COUNTERSIGN_CODES,
  type Scope,
  SERVICE_IDENTITY,
  serviceIdentity,
} from '../protocol/wire.js'
import { onlyGiven } from '../shape.js'
import { watchedTransport } from './key-watch.js'
import { bareImage, findOtpauthUri, findQr } from './qr.js'
import {
  clockStepsIn,
  contradictionIn,
  type Fields,
  invalidResponse,
  isKeyRefusal,
  keyRefused,
  refusalIn,
  validFields,
  verifyContradictionIn,
} from './response-validation.js'
import { type Answer, httpTransport, observedTransport, type Transport } from './transport.js'
import { type VerbCalls, verbClient } from './verb-client.js'

/** What the client finds out about the service. */
export interface ServiceObserver {
  /** Called at a response of the Countersign service to a client that does not use its additions. */
  onOwnService?(): void
  /** Called when a service without a configured dialect does not answer like the Countersign service. */
  onUnrecognized?(): void
  /** Called with the scopes that the API key lacks, when the Countersign service says at the first call which ones it has. */
  onMissingScopes?(missing: readonly Scope[]): void
}

/** The client of an MFA service in the dialect of `settings`, or by default of the Countersign service, which must say so first. */
export function httpService(
  settings: ServiceSettings,
  { onOwnService, onUnrecognized, onMissingScopes }: ServiceObserver = {},
  transport: Transport = httpTransport(settings),
): HttpService {
  const { dialect, timeoutMs } = settings
  if (dialect === 'detect') {
    const onIdentified = () => void (onMissingScopes && checkScopes(transport, timeoutMs, onMissingScopes))
    const identified = identifiedTransport(transport, timeoutMs, { onUnrecognized, onIdentified })
    return dialectClient(settings, COUNTERSIGN, identified)
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
 * Sends nothing before the service has identified itself as the Countersign service. Another answer, as of a captive portal, decides
 * nothing (R131): the next call asks again. `onUnrecognized` is called for it, unless the service failed.
 */
export function identifiedTransport(
  transport: Transport,
  timeoutMs: number,
  {
    onUnrecognized = () => {},
    onIdentified = () => {},
  }: { onUnrecognized?: (() => void) | undefined; onIdentified?(): void } = {},
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
    if (isIdentified) return onIdentified()
    if (isOutage(answer)) throw unidentified(`failed (status ${answer.status})`)
    onUnrecognized()
    throw unidentified(
      `gave another answer (status ${answer.status}); a service that speaks the published API needs service.dialect: 'published'`,
    )
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
  return status === 200 && serviceIdentity.safeParse(jsonIn(body)).success
}

/** Whether the response comes from an overloaded or failing service. */
function isOutage({ status }: Answer): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** The call itself was not sent, so nothing is counted. */
function unidentified(what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'ERR_MFA_SERVICE_UNAVAILABLE',
    `The MFA service has not identified itself as the Countersign service: GET ${SERVICE_IDENTITY} ${what}. Nobody is signed in until it does. Check service.baseUrl, and what answers there.`,
    { cause, effect: 'none' },
  )
}

/** Asks which scopes the API key has. No call waits for it, and without an answer the calls themselves say what is missing. */
async function checkScopes(
  transport: Transport,
  timeoutMs: number,
  onMissing: (missing: readonly Scope[]) => void,
): Promise<void> {
  const limitMs = Math.min(timeoutMs, IDENTITY_TIMEOUT_MS)
  const answer = await transport.get(API_KEY_INFO, limitMs).catch(() => undefined)
  if (answer?.status !== 200) return
  const info = apiKeyInfo.safeParse(jsonIn(answer.body)).data
  const missing = SIGN_IN_SCOPES.filter((scope) => info && !info.scopes.includes(scope))
  if (missing.length > 0) onMissing(missing)
}

const { send: _send, verify: _verify, enrollApp: _enrollApp, sendBackupCodes: _backup, ...OWN_VERBS } = VERBS
type OwnVerbs = Required<Pick<MfaService, keyof typeof OWN_VERBS>>

/** An MFA service over HTTP. */
export type HttpService = CompleteMfaService & { close(): Promise<void> }

/** The client of an MFA service that implements the HTTP API in this dialect. */
function dialectClient(
  { timeoutMs }: Pick<ServiceSettings, 'timeoutMs'>,
  dialect: Dialect,
  given: Transport,
): HttpService {
  // The Countersign service says itself that it refuses the key.
  const transport = dialect.extras ? given : watchedTransport(given, dialect.paths)
  const post = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, onlyGiven(parameters))
  const postOnce = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, onlyGiven(parameters), { idempotencyKey: dialect.extras ? randomUUID() : undefined })

  const extras = (
    caller: Caller &
      Partial<Pick<RequestOf<'send'>, 'purpose' | 'transaction' | 'approval'>> & { kind?: CodeKind },
  ) =>
    dialect.extras
      ? {
          Account: caller.account,
          ClientAddress: caller.clientAddress,
          Locale: caller.locale,
          Purpose: caller.purpose,
          Kind: caller.kind?.toUpperCase(),
          Transaction: caller.transaction,
          Approval: caller.approval && JSON.stringify(caller.approval),
        }
      : {}

  const calls: VerbCalls = {
    post,
    get: (path, limitMs = timeoutMs) => transport.get(path, Math.min(timeoutMs, limitMs)),
    extras,
  }
  const keysPath = dialect.paths.keys
  const backupPath = (method: BackupMethod) =>
    method === 'dual' ? dialect.paths.backupDual : dialect.paths.backup

  return {
    async send(request) {
      const { method, contact, challenge } = request
      const answer = await postOnce(method === 'dual' ? dialect.paths.sendDual : dialect.paths.send, {
        User: formatUser(contact),
        Type: dialect.sendTypes[method],
        Challenge: challenge,
        ...extras(request),
      })
      if (!isAccepted(answer)) return refusalIn(answer)
      const fields = acceptedFields(answer)
      return {
        outcome: fields.status === 'queued' ? 'queued' : 'sent',
        ...(isChallengeId(fields.challenge) && { challenge: fields.challenge }),
        ...(isSmallCount(fields.expires_in) && { expiresInSeconds: fields.expires_in }),
        ...(isSmallCount(fields.resend_in) && { resendInSeconds: fields.resend_in }),
        ...(dialect.extras && fields.delivery_reports === true && { deliveryReports: true as const }),
      }
    },

    async verify(request) {
      const { method, contact, code, challenge } = request
      const answer = await post(dialect.paths.verify, {
        User: formatUser(contact),
        Type: VERIFY_TYPE[method],
        Code: code,
        Challenge: challenge,
        ...extras(request),
      })
      if (isKeyRefusal(answer)) throw keyRefused(answer)
      if (answer.status === 401) {
        const clockSteps = method === 'app' ? clockStepsIn(answer) : undefined
        return { outcome: 'invalid', ...(clockSteps !== undefined && { clockSteps }) }
      }
      // Verifying sends no message, so a 429 without a reason means too many wrong codes.
      if (answer.status !== 200) return refusalIn(answer, 'locked')
      const fields = validFields(answer)
      const contradiction = verifyContradictionIn(fields)
      if (contradiction === 'no') return { outcome: 'invalid' }
      if (contradiction === 'error') throw invalidResponse('status 200 with an error')
      if (dialect.validWhen === 'body' && fields.valid !== true) {
        throw invalidResponse('status 200 without `valid: true`')
      }
      const left = fields.backup_codes_left
      return {
        outcome: 'valid',
        // Only a service that is told the kind can accept a code as nothing else.
        ...(dialect.extras && request.kind === 'backup' && { kind: request.kind }),
        ...(isSmallCount(left) && { backupCodesLeft: left }),
        ...(dialect.extras && fields.backup_delivery === 'page' && { backupDelivery: 'page' }),
      }
    },

    async enrollApp(request) {
      const answer = await post(dialect.paths.enrollApp, {
        User: formatUser(request.contact),
        ...extras(request),
      })
      if (!isAccepted(answer)) return refusalIn(answer)
      const bare = bareImage(answer.body)
      const fields = bare === undefined ? acceptedFields(answer) : {}
      const qr = bare ?? findQr(fields)
      if (!qr) throw invalidResponse('no QR code in it')
      const uri = findOtpauthUri(fields)
      const secret = isSecret(fields.secret) ? fields.secret : secretIn(uri)
      return { outcome: 'prepared', qr, ...(uri && { uri }), ...(secret && { secret }) }
    },

    async sendBackupCodes(request) {
      const answer = await postOnce(backupPath(request.method), {
        User: formatUser(request.contact),
        Type: dialect.backupTypes[request.method],
        ...extras(request),
      })
      if (!isAccepted(answer)) return refusalIn(answer)
      const fields = acceptedFields(answer)
      return {
        outcome: fields.status === 'queued' ? 'queued' : 'sent',
        ...(isSmallCount(fields.count) && { count: fields.count }),
      }
    },

    // A dialect of other parts belongs to another service.
    ...(dialect === COUNTERSIGN && { codes: COUNTERSIGN_CODES, approvals: true as const }),
    // Only the Countersign service has these endpoints.
    ...(dialect.extras && verbClient<OwnVerbs>(OWN_VERBS, calls)),
    ...(keysPath !== undefined && {
      keys: verbClient<KeyVerbs>(KEY_VERBS, {
        ...calls,
        pathOf: (path) => `${keysPath}${path.slice(KEYS_PATH.length)}`,
      }),
    }),
    close: () => transport.close(),
  }
}

/** Whether a request that proves nothing was accepted: then 201, 202 and 204 count as success too. */
function isAccepted(answer: Answer): boolean {
  return [200, 201, 202, 204].includes(answer.status)
}

function acceptedFields(answer: Answer): Fields {
  // The published API does not specify these bodies. Plain text does not contradict the status, also without a content type.
  if (/^(?:text\/plain|$)/.test(answer.contentType) && !/^\s*[{[<"]/.test(answer.body)) return {}
  const fields = validFields(answer)
  // An error in the body means the same as a 500: nothing was done.
  if (contradictionIn(fields)) throw invalidResponse(`status ${answer.status} with an error`, 'none')
  return fields
}

function isChallengeId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)
}

function isSmallCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 86_400
}

function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z2-7]{16,128}=*$/.test(value)
}

function secretIn(uri: string | undefined): string | undefined {
  const secret = uri !== undefined && URL.canParse(uri) ? new URL(uri).searchParams.get('secret') : undefined
  return isSecret(secret) ? secret : undefined
}
