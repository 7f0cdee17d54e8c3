import { randomUUID } from 'node:crypto'
import type { Contact } from '../protocol/contact.js'
import { METHOD_AMR } from '../protocol/factor.js'
import { canonicalCode } from '../protocol/methods.js'
import type { MfaRecord } from '../session/record.js'
import { pickGiven } from '../shape.js'
import { type Deps, type Refused, refuse, serviceVerb } from './deps.js'
import { translateRefusal } from './refusal.js'
import { revokeDevices } from './remove-factor.js'
import { askService, createCaller, factorBinding, getPurpose, type MfaUser } from './user.js'
import { type AcceptedCode, checkShown, evaluateCode, isMalformed } from './verify.js'

/** The texts that the user needs to set up an app. They are stored nowhere in the clear (R53). */
export interface Prepared {
  readonly outcome: 'prepared'
  readonly enrollment: NonNullable<MfaRecord['enrollment']>
  /** A `data:image/…` URL. */
  readonly qr: string
  readonly uri?: string
  readonly secret?: string
}

/** How long a prepared app can be confirmed. */
export const ENROLLMENT_LIFETIME_MS = 15 * 60_000

/** Has the service prepare an authenticator app. An app that is in use stays valid until the new one is confirmed. */
export async function prepareApp(deps: Deps, user: MfaUser, contact: Contact): Promise<Prepared | Refused> {
  const answer = await askService(deps, user.userId, () =>
    serviceVerb(deps.service, 'enrollApp')({ contact, ...createCaller(user) }),
  )
  if (answer.outcome === 'refused') return refuse(translateRefusal(answer.refusal))
  const { qr, uri, secret } = answer
  const enrollment = { id: randomUUID(), startedAt: Date.now() }
  await deps.lastEnrollments.remember(user.userId, enrollment.id)
  return {
    outcome: 'prepared',
    enrollment,
    qr,
    ...pickGiven({ uri, secret }),
  }
}

/** Whether the setup of an app was begun too long ago. */
export function isExpired({ startedAt }: NonNullable<MfaRecord['enrollment']>): boolean {
  return Date.now() - startedAt >= ENROLLMENT_LIFETIME_MS
}

/** Checks the first code of an app that was prepared in this session; from then on the app is valid (R54). */
export async function confirmApp(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  contact: Contact,
  typed: string,
): Promise<AcceptedCode | Refused> {
  const { enrollment } = record
  if (!enrollment || isExpired(enrollment)) {
    return refuse({ code: 'no_challenge' })
  }
  const { id } = enrollment
  const signsIn = getPurpose(record) === 'sign-in'
  const code = canonicalCode(typed)
  if (isMalformed(deps, 'app', code)) return refuse({ code: 'malformed_code' })
  const request = {
    method: 'app',
    contact,
    code,
    kind: 'confirm',
    transaction: id,
    ...createCaller(user),
  } as const
  const verdict = await checkShown(deps, {
    attempt: { userId: user.userId, challenge: id, transaction: id, signsIn },
    factor: { method: 'app', contact },
    evaluate: () => evaluateCode(deps, user.userId, request),
  })
  if (verdict.outcome === 'refused') return verdict
  return { outcome: 'accepted', method: 'app', shown: 'app', amr: METHOD_AMR.app }
}

/** Forgets the failures of the app before, and revokes the trusted devices: the host cannot tell the new app from an old one under the same contact. */
export async function appEnrolled(deps: Deps, { userId }: MfaUser, contact: Contact): Promise<void> {
  await deps.attempts.enable(userId, factorBinding(userId, 'app', contact))
  await deps.appOwners.remember(contact, userId)
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'app_enrolled', userId })
}

/** How long an app shows a code. */
const APP_CODE_MS = 30_000

/** Whether a code of the app was accepted in this session so lately that the app may still show it (R33, R51). */
export function hasUsedAppCode(record: MfaRecord): boolean {
  const { approval, setUp } = record
  const approvedAt = approval?.granted?.method === 'app' ? approval.at : 0
  const shownAt = record.stage === 'verified' ? record.shown.app : 0
  return Date.now() - Math.max(approvedAt, shownAt ?? 0, setUp?.app ?? 0) < APP_CODE_MS
}
