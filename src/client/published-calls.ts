import { randomUUID } from 'node:crypto'
import type { Dialect } from '../options/dialect.js'
import { type Caller, formatUser } from '../protocol/contact.js'
import type { CodeKind } from '../protocol/methods.js'
import type { CompleteMfaService, RequestOf } from '../protocol/service.js'
import { pickGiven } from '../shape.js'
import { bareImage, findOtpauthUri, findQr } from './qr.js'
import { readRefusal } from './refusals.js'
import {
  type Fields,
  findContradiction,
  invalidResponse,
  isPlainText,
  isSmallCount,
  validFields,
} from './response-validation.js'
import type { Answer, Transport } from './transport.js'

/** The parameters that a dialect adds to those of the published API. */
export type Extras = (
  caller: Caller &
    Partial<Pick<RequestOf<'send'>, 'purpose' | 'transaction' | 'approval' | 'signIn'>> & { kind?: CodeKind },
) => Readonly<Record<string, string | undefined>>

/** The calls of the published API that prove nothing: all but `verify`. */
export function publishedCalls(
  transport: Transport,
  dialect: Dialect,
  extras: Extras,
): Pick<CompleteMfaService, 'send' | 'enrollApp' | 'sendBackupCodes'> {
  const postOnce = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, pickGiven(parameters), { idempotencyKey: dialect.extras ? randomUUID() : undefined })

  return {
    async send(request) {
      const { method, contact, challenge } = request
      const answer = await postOnce(method === 'dual' ? dialect.paths.sendDual : dialect.paths.send, {
        User: formatUser(contact),
        Type: dialect.sendTypes[method],
        Challenge: challenge,
        ...extras(request),
      })
      if (!isAccepted(answer)) return readRefusal(answer)
      const fields = requireAccepted(answer)
      return {
        outcome: fields.status === 'queued' ? 'queued' : 'sent',
        ...(isChallengeId(fields.challenge) && { challenge: fields.challenge }),
        ...(isSmallCount(fields.expires_in) && { expiresInSeconds: fields.expires_in }),
        ...(isSmallCount(fields.resend_in) && { resendInSeconds: fields.resend_in }),
        ...(dialect.extras && fields.delivery_reports === true && { deliveryReports: true as const }),
      }
    },

    async enrollApp(request) {
      const parameters = { User: formatUser(request.contact), ...extras(request) }
      const answer = await transport.post(dialect.paths.enrollApp, pickGiven(parameters))
      if (!isAccepted(answer)) return readRefusal(answer)
      const bare = bareImage(answer.body)
      const fields = bare === undefined ? requireAccepted(answer) : {}
      const qr = bare ?? findQr(fields)
      if (!qr) throw invalidResponse('no QR code in it')
      const uri = findOtpauthUri(fields)
      const secret = isSecret(fields.secret) ? fields.secret : readSecret(uri)
      return { outcome: 'prepared', qr, ...(uri && { uri }), ...(secret && { secret }) }
    },

    async sendBackupCodes(request) {
      const { method, contact } = request
      const answer = await postOnce(method === 'dual' ? dialect.paths.backupDual : dialect.paths.backup, {
        User: formatUser(contact),
        Type: dialect.backupTypes[method],
        ...extras(request),
      })
      if (!isAccepted(answer)) return readRefusal(answer)
      const fields = requireAccepted(answer)
      return {
        outcome: fields.status === 'queued' ? 'queued' : 'sent',
        ...(isSmallCount(fields.count) && { count: fields.count }),
      }
    },
  }
}

/** Whether a request that proves nothing was accepted: then 201, 202 and 204 count as success too. */
function isAccepted(answer: Answer): boolean {
  return [200, 201, 202, 204].includes(answer.status)
}

function requireAccepted(answer: Answer): Fields {
  // The published API does not specify these bodies. Plain text does not contradict the status.
  if (isPlainText(answer)) return {}
  const fields = validFields(answer)
  // An error in the body means the same as a 500: nothing was done.
  if (findContradiction(fields)) throw invalidResponse(`status ${answer.status} with an error`, 'none')
  return fields
}

function isChallengeId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value)
}

function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z2-7]{16,128}=*$/.test(value)
}

function readSecret(uri: string | undefined): string | undefined {
  const secret = uri !== undefined && URL.canParse(uri) ? new URL(uri).searchParams.get('secret') : undefined
  return isSecret(secret) ? secret : undefined
}
