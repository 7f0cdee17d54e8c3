import type { Request } from 'express'
import { type Refused, refuse } from '../flows/deps.js'
import type { Person } from '../flows/person.js'
import { type Approved, claimApproval, type Right, type TypedCode, verifyCode } from '../flows/verify.js'
import { pickLocale } from '../pages/text.js'
import { isCurrent } from '../session/slot.js'
import { factorsOf, type Known } from '../session/standing.js'
import type { Settings } from '../settings.js'
import { clientAddressOf } from './client-address.js'
import type { DoorDeps } from './deps.js'
import { localesOf } from './locales.js'
import { notify } from './notify.js'

/** The person at the door, as the flows see them. */
export async function personOf(req: Request, known: Known, settings: Settings): Promise<Person> {
  return {
    userId: known.userId,
    factors: known.factors ?? (await factorsOf(known.user, settings)),
    locale: pickLocale(localesOf(req, settings), settings.texts),
    clientAddress: clientAddressOf(req),
  }
}

/**
 * Checks a typed code for whoever is at the door. The verdict is the same for every door; what the session knew at
 * the beginning must still hold at the end (R06, R07).
 */
export async function verifyVisit(
  deps: DoorDeps,
  req: Request,
  known: Known,
  typed: TypedCode,
): Promise<Approved | Refused> {
  const person = await personOf(req, known, deps.settings)
  const verdict = await verifyCode(deps, person, known.record, typed)
  await tellPerson(deps, req, known, verdict)
  if (!(await isCurrent(req, known.userId))) return refuse({ code: 'session_ended' })
  if (verdict.outcome === 'refused') return verdict
  const approval = await claimApproval(deps, person, known.record, verdict)
  if (approval.outcome === 'refused' || !typed.trust) return approval
  // Whoever signs in by a backup code has lost something; this is no moment to ask less of them (R63).
  const mayTrust = approval.method !== 'backup'
  const { user, userId } = known
  const account = { user, userId, factors: person.factors }
  const device = mayTrust ? await deps.browsers?.remember(req, account, known.record.startedAt) : undefined
  if (device === undefined) return { ...approval, trusted: false }
  const takeBack = async () => {
    await deps.tries.unclaim(approval.claim)
    await deps.browsers?.revoke(req, userId, device)
  }
  // Keeping it has taken its time: a session that ended meanwhile leaves no trust behind (R07).
  const isStillThere = await isCurrent(req, userId).catch(async (error: unknown) => {
    await takeBack()
    throw error
  })
  if (!isStillThere) {
    await takeBack()
    return refuse({ code: 'session_ended' })
  }
  await notify(deps, req, known, { type: 'device_trusted' })
  return { ...approval, trusted: true }
}

/**
 * Tells of guesses (R34) and of a backup code that is gone (R63). Whoever moves the session on while a code is being
 * checked must not keep the person from hearing of it.
 */
async function tellPerson(
  deps: DoorDeps,
  req: Request,
  known: Known,
  verdict: Right | Refused,
): Promise<void> {
  if (verdict.outcome === 'right') {
    if (verdict.method === 'backup') await notify(deps, req, known, { type: 'backup_code_used' })
    return
  }
  const isGuess = known.stage === 'pending' && verdict.refusal.code === 'invalid_code'
  if (isGuess && (await deps.warnings.failed(known.userId))) {
    await notify(deps, req, known, { type: 'repeated_failures' })
  }
}
