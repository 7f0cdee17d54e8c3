import { randomUUID } from 'node:crypto'
import { onlyGiven } from '../option-rules.js'
import type { Caller } from '../protocol/caller.js'
import { formatUser } from '../protocol/contact.js'
import { type BackupMethod, type CodeKind, VERIFY_TYPE } from '../protocol/methods.js'
import type {
  AccountFactors,
  CompleteMfaService,
  CreateBackupCodesRequest,
  DeliveryState,
  FactorsRequest,
  Purpose,
  RemoveFactorRequest,
} from '../protocol/service.js'
import type { TranscriptionService } from '../protocol/transcription.js'
import {
  createBackupCodesAnswer,
  deliveryAnswer,
  factorsAnswer,
  removeFactorAnswer,
  verifyAnswer,
} from '../protocol/wire.js'
import type { ServiceSettings } from './address.js'
import type { Dialect } from './dialect.js'
import { jobClient } from './job-client.js'
import { keyClient, keyMethodOf } from './key-client.js'
import { liveClient } from './live-client.js'
import { bareImage, findOtpauthUri, findQr } from './qr.js'
import {
  clockStepsIn,
  contradictionIn,
  type Fields,
  invalidResponse,
  isKeyRefusal,
  keyRefused,
  problemCode,
  refusalIn,
  validFields,
  verifyContradictionIn,
} from './response-validation.js'
import { sendRecording } from './send-recording.js'
import { maxBytesOf, transcriptIn } from './transcript.js'
import { lastEvent, progressReader } from './transcription-events.js'
import type { Answer, Transport } from './transport.js'

const DELIVERIES = '/v1/mfa/deliveries'
const FACTORS = '/v1/mfa/factors'
const REMOVE_FACTOR = '/v1/mfa/factors/remove'
const BACKUP_CODES = '/v1/mfa/backup/codes'
/** Time limit for a delivery state, which a page waits for and can do without. */
const DELIVERY_STATE_TIMEOUT_MS = 1_000
const validAnswer = verifyAnswer.pick({ valid: true })

/** An MFA service over HTTP. */
export type HttpService = CompleteMfaService & TranscriptionService & { close(): Promise<void> }

/** The client of an MFA service that implements the HTTP API in this dialect. */
export function dialectClient(
  settings: Omit<ServiceSettings, 'dialect'>,
  dialect: Dialect,
  transport: Transport,
): HttpService {
  const { timeoutMs, transcribeTimeoutMs } = settings
  const post = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, onlyGiven(parameters))
  const postOnce = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, onlyGiven(parameters), { idempotencyKey: dialect.extras ? randomUUID() : undefined })

  const extras = (caller: Caller & { purpose?: Purpose; kind?: CodeKind; transaction?: string }) =>
    dialect.extras
      ? {
          Account: caller.account,
          ClientAddress: caller.clientAddress,
          Locale: caller.locale,
          Purpose: caller.purpose,
          Kind: caller.kind?.toUpperCase(),
          Transaction: caller.transaction,
        }
      : {}

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
      if (isKeyRefusal(answer)) throw keyRefused()
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
      if (dialect.validWhen === 'body' && !validAnswer.safeParse(fields).success) {
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

    // Only the Countersign service has these endpoints.
    ...(dialect.extras && {
      async deliveryOf({ challenge }: { readonly challenge: string }) {
        const limitMs = Math.min(timeoutMs, DELIVERY_STATE_TIMEOUT_MS)
        const answer = await transport.get(`${DELIVERIES}/${encodeURIComponent(challenge)}`, limitMs)
        return answer.status === 404 ? undefined : deliveryIn(answer)
      },

      async factorsOf(request: FactorsRequest) {
        return factorsIn(await post(FACTORS, { User: formatUser(request.contact), ...extras(request) }))
      },

      async createBackupCodes(request: CreateBackupCodesRequest) {
        const answer = await post(BACKUP_CODES, { User: formatUser(request.contact), ...extras(request) })
        if (isUnknownPath(answer)) return undefined
        if (answer.status !== 200) return refusalIn(answer)
        const read = createBackupCodesAnswer.safeParse(validFields(answer))
        if (!read.success) throw invalidResponse('a body without backup codes')
        return { outcome: 'created' as const, codes: read.data.codes }
      },

      async removeFactor({ factor, ...request }: RemoveFactorRequest) {
        const User = formatUser(request.contact)
        const answer = await post(REMOVE_FACTOR, { User, Factor: factor.toUpperCase(), ...extras(request) })
        if (isUnknownPath(answer)) return undefined
        if (answer.status !== 200) return refusalIn(answer)
        const read = removeFactorAnswer.safeParse(validFields(answer))
        if (!read.success) throw invalidResponse('a body that does not say whether the factor was removed')
        return { outcome: read.data.removed ? ('removed' as const) : ('none' as const) }
      },
    }),
    ...(dialect.paths.keys !== undefined && {
      keys: keyClient({
        path: dialect.paths.keys,
        post,
        get: (path) => transport.get(path, timeoutMs),
        extras: (caller) => extras(caller),
      }),
    }),
    ...(dialect.extras && { ...liveClient(settings, transport), ...jobClient(settings, transport) }),
    async transcribe(request) {
      const { format, onProgress, signal } = request
      const answer = await sendRecording(transport, dialect.paths.transcribe, request, {
        timeoutMs: transcribeTimeoutMs,
        maxBytes: maxBytesOf(format, onProgress !== undefined),
        signal,
        onEvents: onProgress && progressReader(onProgress),
      })
      if (!answer) return { outcome: 'refused', refusal: { reason: 'file_too_large' } }
      return transcriptIn(lastEvent(answer, format), format)
    },

    close: () => transport.close(),
  }
}

/** Whether the service is an earlier release of our own, which does not have the endpoint. */
function isUnknownPath(answer: Answer): boolean {
  return answer.status === 404 && problemCode(answer) === 'not_found'
}

function factorsIn(answer: Answer): AccountFactors {
  if (answer.status !== 200) {
    refusalIn(answer)
    throw invalidResponse(`unexpected status ${answer.status}`)
  }
  const read = factorsAnswer.safeParse(validFields(answer))
  if (!read.success) throw invalidResponse('a body without the factors of the account')
  const { existing, offered_keys, backup_codes_left, backup_delivery, last_used } = read.data
  return {
    existing: existing.map(({ type, usable }) => ({
      method: type === 'APP' ? 'app' : keyMethodOf(type),
      usable,
    })),
    offeredKeys: offered_keys.map(keyMethodOf),
    backupCodesLeft: backup_codes_left,
    ...(backup_delivery && { backupDelivery: backup_delivery }),
    ...(last_used && {
      lastUsed: last_used.map(({ type, user, at }) => ({
        type,
        ...(user !== undefined && { user }),
        at: Date.parse(at),
      })),
    }),
  }
}

function deliveryIn(answer: Answer): DeliveryState {
  if (answer.status !== 200) {
    refusalIn(answer)
    throw invalidResponse(`unexpected status ${answer.status}`)
  }
  const read = deliveryAnswer.safeParse(validFields(answer))
  if (!read.success) throw invalidResponse('a body without a delivery state')
  const { updated_at, carrier, ...state } = read.data
  return { ...state, ...(carrier !== undefined && { carrier }), updatedAt: Date.parse(updated_at) }
}

/** Whether a request that proves nothing was accepted: then 201, 202 and 204 count as success too. */
function isAccepted(answer: Answer): boolean {
  return [200, 201, 202, 204].includes(answer.status)
}

function acceptedFields(answer: Answer): Fields {
  // The published API does not specify these bodies. Plain text does not contradict the status.
  if (answer.contentType.startsWith('text/plain') && !/^\s*[{[<"]/.test(answer.body)) return {}
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
