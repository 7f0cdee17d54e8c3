import { randomUUID } from 'node:crypto'
import { canonicalCode } from '../protocol/code.js'
import type { Contact } from '../protocol/contact.js'
import type { MfaRecord } from '../session/record.js'
import { revokeDevices } from './account-security.js'
import { askService } from './deliver.js'
import { callerOf, type Deps, type Refused, refuse } from './deps.js'
import { fromService } from './refusal.js'
import type { MfaUser } from './user.js'
import { judge, type RightCode } from './verify.js'

/** What the user needs to set up an app. It is shown once and remembered nowhere (R53). */
export interface Prepared {
  readonly outcome: 'prepared'
  readonly enrollment: NonNullable<MfaRecord['enrollment']>
  /** A `data:image/…` URL. */
  readonly qr: string
  readonly uri?: string
  readonly secret?: string
}

/** How long an app may wait for its first code. */
const ENROLMENT_LIFE_MS = 15 * 60_000

/** Has the service prepare an authenticator app; an app that is in use stays in use until the new one is confirmed. */
export async function prepareApp(
  deps: Deps,
  user: MfaUser,
  contact: Contact | undefined,
): Promise<Prepared | Refused> {
  if (!contact) return refuse({ code: 'contact_needed' })
  const answer = await askService(deps, user.userId, () =>
    deps.service.enrollApp({ contact, ...callerOf(user) }),
  )
  if (answer.outcome === 'refused') return refuse(fromService(answer.refusal))
  const { qr, uri, secret } = answer
  return {
    outcome: 'prepared',
    enrollment: { id: randomUUID(), startedAt: Date.now() },
    qr,
    ...(uri && { uri }),
    ...(secret && { secret }),
  }
}

/** Checks the first code of an app that was prepared in this session; from then on it counts (R54). */
export async function confirmApp(
  deps: Deps,
  user: MfaUser,
  enrollment: MfaRecord['enrollment'],
  contact: Contact | undefined,
  typed: string,
): Promise<RightCode | Refused> {
  if (!contact || !enrollment || Date.now() - enrollment.startedAt >= ENROLMENT_LIFE_MS) {
    return refuse({ code: 'no_challenge' })
  }
  const attempt = { userId: user.userId, challenge: enrollment.id }
  const code = canonicalCode(typed)
  const verdict = await judge(deps, attempt, {
    method: 'app',
    contact,
    code,
    kind: 'confirm',
    transaction: enrollment.id,
    ...callerOf(user),
  })
  if (verdict.outcome === 'refused') return verdict
  return { outcome: 'right', method: 'app' }
}

/** Ends the trust in all devices, since another app under the same contact looks to the host like the old one. */
export async function appEnrolled(deps: Deps, { userId }: MfaUser): Promise<void> {
  await revokeDevices(deps, userId, 'factor_change')
  deps.emit({ type: 'app_enrolled', userId })
}
