import { randomUUID } from 'node:crypto'
import { onlyGiven } from '../option-rules.js'
import { formatUser } from '../protocol/contact.js'
import { type BackupMethod, type CodeKind, VERIFY_TYPE } from '../protocol/methods.js'
import { isAddress, MAX_RECORDING_BYTES } from '../protocol/recording.js'
import type { Caller, DeliveryState, MfaService, Purpose } from '../protocol/service.js'
import { deliveryAnswer, verifyAnswer } from '../protocol/wire.js'
import type { ServiceSettings } from './address.js'
import { barePicture, findOtpauthUri, findQr } from './qr.js'
import {
  clockStepsIn,
  type Fields,
  invalidResponse,
  isKeyRefusal,
  keyRefused,
  objectionIn,
  refusalIn,
  validFields,
} from './response-validation.js'
import { transcriptIn } from './transcript.js'
import { type Answer, httpTransport, type Transport } from './transport.js'
import { uploadOf } from './upload.js'

const DELIVERIES = '/v1/mfa/deliveries'
/** How a message stands is worth little, so little time is spent on it, in milliseconds. */
const DELIVERY_STATE_LIMIT_MS = 1_000
const yes = verifyAnswer.pick({ valid: true })

/** An MFA service behind the HTTP API, as the dialect in `settings` speaks it. */
export function httpService(
  settings: ServiceSettings,
  transport: Transport = httpTransport(settings),
): MfaService & { close(): Promise<void> } {
  const { dialect, timeoutMs, transcribeTimeoutMs } = settings
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
        ...(isName(fields.challenge) && { challenge: fields.challenge }),
        ...(isWhole(fields.expires_in) && { expiresInSeconds: fields.expires_in }),
        ...(isWhole(fields.resend_in) && { resendInSeconds: fields.resend_in }),
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
      // Nothing is sent here, so it is codes that there were too many of.
      if (answer.status !== 200) return refusalIn(answer, 'locked')
      const fields = validFields(answer)
      const objection = objectionIn(fields)
      if (objection === 'no') return { outcome: 'invalid' }
      if (objection === 'error') throw invalidResponse('status 200 and an error')
      if (dialect.validWhen === 'body' && !yes.safeParse(fields).success) {
        throw invalidResponse('status 200 that does not say the code is valid')
      }
      const left = fields.backup_codes_left
      return { outcome: 'valid', ...(isWhole(left) && { backupCodesLeft: left }) }
    },

    async enrollApp(request) {
      const answer = await post(dialect.paths.enrollApp, {
        User: formatUser(request.contact),
        ...extras(request),
      })
      if (!isAccepted(answer)) return refusalIn(answer)
      const bare = barePicture(answer.body)
      const fields = bare === undefined ? acceptedFields(answer) : {}
      const qr = bare ?? findQr(fields)
      if (!qr) throw invalidResponse('no QR code')
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
        ...(isWhole(fields.count) && { count: fields.count }),
      }
    },

    // An addition of our own service: others know no such address.
    ...(dialect.extras && {
      async deliveryOf({ challenge }: { readonly challenge: string }) {
        const limitMs = Math.min(timeoutMs, DELIVERY_STATE_LIMIT_MS)
        const answer = await transport.get(`${DELIVERIES}/${encodeURIComponent(challenge)}`, limitMs)
        return answer.status === 404 ? undefined : deliveryIn(answer)
      },
    }),
    async transcribe({ file }) {
      const path = dialect.paths.transcribe
      if (isAddress(file)) {
        return transcriptIn(await transport.post(path, { file }, { limitMs: transcribeTimeoutMs }))
      }
      const upload = await uploadOf(file, MAX_RECORDING_BYTES)
      if (!upload) return { outcome: 'refused', refusal: { reason: 'file_too_large' } }
      try {
        return transcriptIn(await transport.upload(path, upload, transcribeTimeoutMs))
      } finally {
        await upload.close()
      }
    },

    close: () => transport.close(),
  }
}

function deliveryIn(answer: Answer): DeliveryState {
  if (answer.status !== 200) {
    refusalIn(answer)
    throw invalidResponse(`status ${answer.status}`)
  }
  const read = deliveryAnswer.safeParse(validFields(answer))
  if (!read.success) throw invalidResponse('something that does not say how a message stands')
  const { updated_at, carrier, ...state } = read.data
  return { ...state, ...(carrier !== undefined && { carrier }), updatedAt: Date.parse(updated_at) }
}

/** What is only asked for, not believed as proof, may also be 201, 202 or 204. */
function isAccepted(answer: Answer): boolean {
  return [200, 201, 202, 204].includes(answer.status)
}

function acceptedFields(answer: Answer): Fields {
  // The published interface does not show these answers; words for people say nothing against the status.
  if (answer.contentType.startsWith('text/plain') && !/^\s*[{[<"]/.test(answer.body)) return {}
  const fields = validFields(answer)
  // Its own word that it failed is worth as much as a 500.
  if (objectionIn(fields)) throw invalidResponse(`status ${answer.status} and an error`, 'none')
  return fields
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 86_400
}

function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z2-7]{16,128}=*$/.test(value)
}

function secretIn(uri: string | undefined): string | undefined {
  const secret = uri !== undefined && URL.canParse(uri) ? new URL(uri).searchParams.get('secret') : undefined
  return isSecret(secret) ? secret : undefined
}
