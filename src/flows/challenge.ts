import { randomUUID } from 'node:crypto'
import type { Factor } from '../protocol/factor.js'
import { type DeliveredMethod, isDelivered, type Method } from '../protocol/methods.js'
import type { Challenge, MfaRecord } from '../session/record.js'
import { pickGiven } from '../shape.js'
import { canName } from './approval.js'
import { backupOwner, backupTarget } from './backup-target.js'
import { deliver } from './deliver.js'
import { type Deps, type Refused, refuse } from './deps.js'
import {
  createCaller,
  factorBinding,
  findFactor,
  type MfaUser,
  openApproval,
  refusalWithoutFactor,
  useOf,
} from './user.js'

/** A challenge was started, or the code of the live one sent again (`again`). */
export type Challenged = {
  readonly outcome: 'challenged'
  readonly challenge: Challenge
  readonly again: boolean
}

/** Starts a challenge, or sends the live one's code again, whose lifetime and attempts it keeps (R39). */
export async function startChallenge(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  name: string,
): Promise<Challenged | Refused> {
  const none = refusalWithoutFactor(user)
  if (none) return refuse(none)
  const factor = findFactor(user, name)
  if (factor && isDelivered(factor.method))
    return sendCode(deps, user, record, { ...factor, method: factor.method })
  const binding = mapBindings(user).get(factor?.id ?? name)
  const limits = await user.limits()
  if (binding !== undefined && limits.isDisabled(binding)) return refuse({ code: 'factor_disabled' })
  const { lockedForSeconds } = limits
  if (lockedForSeconds > 0) return refuse({ code: 'locked', retryAfterSeconds: lockedForSeconds })

  if (name === 'backup' && backupTarget(user))
    return beginChallenge(deps, user, { factorId: 'backup', method: 'backup' })
  if (!factor) return refuse({ code: 'unknown_factor' })
  return beginChallenge(deps, user, { factorId: factor.id, method: factor.method })
}

/** Starts a challenge without a message: for a method whose codes the user already has, only attempts are counted. */
function beginChallenge(
  { settings, emit }: Deps,
  { userId }: MfaUser,
  what: { factorId: string; method: Method | 'backup' },
): Challenged {
  emit({ type: 'challenged', userId, method: what.method, delivery: 'none', again: false })
  const startedAt = Date.now()
  const expiresAt = startedAt + settings.login.pendingLifetimeMs
  return {
    outcome: 'challenged',
    challenge: { id: randomUUID(), ...what, delivery: 'none', startedAt, expiresAt },
    again: false,
  }
}

async function sendCode(
  deps: Deps,
  user: MfaUser,
  record: MfaRecord,
  factor: Factor & { method: DeliveredMethod },
): Promise<Challenged | Refused> {
  const { settings, service, emit } = deps
  const { userId } = user
  const { method, contact } = factor
  const asked = openApproval(record)
  if (asked && !canName(method, asked.lines, service)) return refuse({ code: 'details_too_long' })
  let live: Challenge | undefined
  const message = {
    userId,
    method,
    transaction: record.transaction,
    slot: factor.id,
    binding: factorBinding(userId, method, contact),
  }
  const delivered = await deliver(deps, message, ({ attemptsLeft }) => {
    live = liveChallenge(record, factor.id, attemptsLeft)
    return service.send({
      method,
      contact,
      ...useOf(record, service),
      ...createCaller(user),
      // Who brought evidence of an issuer showed no password here.
      ...(record.stage === 'pending' && !record.evidence && pickGiven({ signIn: user.signIn })),
      ...(live?.service && { challenge: live.service }),
    })
  })
  if (delivered.outcome === 'refused') return delivered
  const { answer } = delivered

  emit({ type: 'challenged', userId, method, delivery: answer.outcome, again: live !== undefined })
  const now = Date.now()
  const lifeMs =
    answer.expiresInSeconds === undefined ? settings.limits.codeLifetimeMs : answer.expiresInSeconds * 1000
  const waitSeconds = Math.max(delivered.resendInSeconds, answer.resendInSeconds ?? 0)
  return {
    outcome: 'challenged',
    challenge: {
      id: live?.id ?? randomUUID(),
      factorId: factor.id,
      method,
      delivery: answer.outcome,
      startedAt: live?.startedAt ?? now,
      ...(answer.challenge && { service: answer.challenge }),
      ...(answer.deliveryReports && { reports: true }),
      // If the service does not say otherwise, sending a code again does not extend its lifetime.
      expiresAt: answer.expiresInSeconds === undefined && live ? live.expiresAt : now + lifeMs,
      resendAt: now + waitSeconds * 1000,
    },
    again: live !== undefined,
  }
}

/** The session's challenge, if its code is still valid and belongs to this factor: then the same code is sent again. */
function liveChallenge(
  { challenge }: MfaRecord,
  factorId: string,
  attemptsLeft: (challenge: string) => number,
): Challenge | undefined {
  if (challenge?.factorId !== factorId || challenge.expiresAt <= Date.now()) return undefined
  return attemptsLeft(challenge.id) > 0 ? challenge : undefined
}

/** A user's factors by the id that requests name them by, with `backup` for the backup codes, and their bindings. */
export function mapBindings(user: MfaUser): ReadonlyMap<string, string> {
  const { userId, factors } = user
  const bindings = new Map(
    factors.map(({ id, method, contact }: Factor) => [id, factorBinding(userId, method, contact)]),
  )
  const backup = backupOwner(user)
  if (backup) bindings.set('backup', factorBinding(userId, 'backup', backup.contact))
  return bindings
}
