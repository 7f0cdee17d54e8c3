import { randomUUID } from 'node:crypto'
import { canonicalCode } from '../protocol/code.js'
import type { Contact } from '../protocol/contact.js'
import type { MfaRecord } from '../session/record.js'
import { askService } from './ask-service.js'
import { callerOf, type Deps, type Refused, refuse } from './deps.js'
import type { Person } from './person.js'
import { revokeDevices } from './revoke-devices.js'
import { fromService } from './service-refusal.js'
import { judge } from './verify.js'

/** What the person needs to set up an app. It is shown once and remembered nowhere (R53). */
export interface Prepared {
  readonly outcome: 'prepared'
  readonly enrolment: NonNullable<MfaRecord['enrolment']>
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
  person: Person,
  contact: Contact | undefined,
): Promise<Prepared | Refused> {
  if (!contact) return refuse({ code: 'contact_needed' })
  const answer = await askService(deps, person.userId, () =>
    deps.service.enrollApp({ contact, ...callerOf(person) }),
  )
  if (answer.outcome === 'refused') return refuse(fromService(answer.refusal))
  const { qr, uri, secret } = answer
  return {
    outcome: 'prepared',
    enrolment: { id: randomUUID(), startedAt: Date.now() },
    qr,
    ...(uri && { uri }),
    ...(secret && { secret }),
  }
}

/** Checks the first code of an app that was prepared in this session; from then on it counts (R54). */
export async function confirmApp(
  deps: Deps,
  person: Person,
  enrolment: MfaRecord['enrolment'],
  contact: Contact | undefined,
  typed: string,
): Promise<{ readonly outcome: 'confirmed'; readonly claim: string } | Refused> {
  if (!contact || !enrolment || Date.now() - enrolment.startedAt >= ENROLMENT_LIFE_MS) {
    return refuse({ code: 'no_challenge' })
  }
  const attempt = { userId: person.userId, challenge: enrolment.id }
  const code = canonicalCode(typed)
  const verdict = await judge(deps, attempt, {
    method: 'app',
    contact,
    code,
    kind: 'confirm',
    transaction: enrolment.id,
    ...callerOf(person),
  })
  if (verdict.outcome === 'refused') return verdict
  if (!(await deps.tries.claim(enrolment.id))) return refuse({ code: 'session_ended' })
  // Another app under the same contact looks like the old one to the host, and so to what a trust is bound to.
  await revokeDevices(deps, person.userId, 'factor_change').catch(async (error: unknown) => {
    await deps.tries.unclaim(enrolment.id)
    throw error
  })
  deps.tell({ type: 'app_enrolled', userId: person.userId })
  return { outcome: 'confirmed', claim: enrolment.id }
}
