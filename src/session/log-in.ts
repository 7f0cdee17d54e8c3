import type { Request } from 'express'
import { addAmr } from '../protocol/amr.js'
import type { Method } from '../protocol/methods.js'
import type { Settings } from '../settings.js'
import type { SessionDeps } from './deps.js'
import { type LogIn, type LogInOptions, passportOf, withholdUser } from './passport-request.js'
import { decide } from './policy.js'
import type { MfaRecord } from './record.js'
import { type ActiveState, enter, factorsOf, newRecord, recordFor, settle, userIdOf } from './state.js'
import { detachSession, isCurrent, onRegenerate, recordOf, rememberedTarget, sessionEnded } from './store.js'

/*
 * Every way into a session goes through `req.logIn`: Passport takes the one it finds on the request. Wrapping it is
 * what makes a half-login of every login, and a verified session of a passed second factor, in the one new session
 * that Passport makes and saves.
 */

/** A passed second factor that the next `req.logIn` of the same user makes a verified session of. */
export interface Proof {
  readonly userId: string
  readonly method: Method | 'backup'
  /** The record of the session in which it was passed. */
  readonly record: MfaRecord
  /** Whether Passport is to find the return address where it looks for it (`successReturnToOrRedirect`). */
  readonly handOverReturnTo: boolean
  /** What the new session keeps to warn of few backup codes. */
  readonly backupCodes?: MfaRecord['backupCodes']
  /** Called when no session could be made of it. */
  release(): Promise<void>
}

/** A session that the next `req.logIn` of the same user carries on under another id. */
export interface Renewal {
  readonly userId: string
  /** What the new session remembers, but for its id; nothing when the old one remembered nothing. */
  readonly renewed: MfaRecord | undefined
  /** Called when no session could be made of it. */
  release(): Promise<void>
}

const tickets = new WeakMap<Request, Proof | Renewal>()
const wrapped = new WeakSet<Request>()

/** Lays a proof ready for the `req.logIn` that follows in this request. */
export function offerProof(req: Request, proof: Proof): void {
  tickets.set(req, proof)
}

/** Lays a renewal ready for the `req.logIn` that follows in this request. */
export function offerRenewal(req: Request, renewal: Renewal): void {
  tickets.set(req, renewal)
}

/** Has every later `req.logIn` of this request start a half-login, or end one. */
export function wrapLogIn(req: Request, deps: SessionDeps): void {
  if (wrapped.has(req)) return
  wrapped.add(req)
  const original: LogIn = passportOf(req).logIn.bind(req)

  const logIn = (user: Express.User, ...rest: [unknown?, unknown?]) => {
    const done = rest.find((part) => typeof part === 'function') as ((error?: unknown) => void) | undefined
    const options: LogInOptions = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : {}
    const ticket = tickets.get(req)
    tickets.delete(req)
    // Nothing is remembered of a login for one request, so there is nothing to gate.
    if (options.session === false) return original(user, options, done ?? (() => {}))
    if (!done) throw new Error('req.logIn requires a callback function')
    signIn(req, deps, original, { user, options, ticket })
      .then(
        () => done(),
        async (error: unknown) => {
          withholdUser(req)
          await ticket?.release().catch(() => {})
          done(error)
        },
      )
      // A host's callback that trips, say over the user who is withheld now, gets its own error; thrown from here it
      // would end the process.
      .catch(done)
      .catch((error: unknown) =>
        deps.settings.logger.error('countersign: the callback of req.logIn threw', error),
      )
  }
  Object.assign(req, { logIn, login: logIn })
}

async function signIn(
  req: Request,
  deps: SessionDeps,
  original: LogIn,
  {
    user,
    options,
    ticket,
  }: { user: Express.User; options: LogInOptions; ticket: Proof | Renewal | undefined },
): Promise<void> {
  const { settings } = deps
  const userId = userIdOf(user, settings)
  const given = ticket?.userId === userId ? ticket : undefined
  const proven = given && 'method' in given ? given : undefined
  const renewal = given && 'renewed' in given ? given : undefined
  const carried = proven ? verified(proven, settings) : renewal?.renewed
  const record = given ? carried : await begun(req, deps, user, userId, options)
  const remembered = rememberedTarget(req)
  const target = renewal ? remembered : ((proven?.record ?? recordOf(req, userId))?.returnTo ?? remembered)
  // Asked last, since what was done after the code was right has taken its time: the host was told, a device kept.
  if (given && !(await isCurrent(req, userId))) throw sessionEnded()

  onRegenerate(req, (sessionId) => ({
    mfa: record && {
      ...record,
      sessionId,
      ...(!given && !record.unasked && target && { returnTo: target }),
    },
    returnTo: proven && !proven.handOverReturnTo ? undefined : target,
  }))
  // A second factor belongs to the login before it, as a renewal does: what the host keeps in the session stays.
  const keepSessionInfo = options.keepSessionInfo ?? given !== undefined
  await new Promise<void>((resolve, reject) => {
    original(user, { ...options, keepSessionInfo }, (error) => (error ? reject(error) : resolve()))
  }).catch((error: unknown) => {
    // The new session is already filled; the end of the request would try once more to store it (R09).
    detachSession(req)
    throw error
  })
  // What is carried over may be over, and who was not asked may be now: they are looked at as at any other request.
  if (!record || record.unasked || renewal) {
    await enter(req, deps)
    return
  }
  const now = { ...record, sessionId: req.sessionID }
  const stage = stageOf(now)
  if (stage === 'pending') deps.emit({ type: 'pending_login_started', userId })
  settle(req, deps, {
    stage,
    user,
    userId,
    record: now,
    factors: undefined,
  })
}

function stageOf({ verified, exemption, trusted }: MfaRecord): ActiveState['stage'] {
  if (verified) return 'verified'
  if (exemption) return 'exempt'
  return trusted ? 'trusted' : 'pending'
}

function verified({ record, method, userId, backupCodes }: Proof, settings: Settings): MfaRecord {
  const before = record.verified?.amr ?? [settings.firstFactor]
  const at = Date.now()
  return {
    ...newRecord('', userId),
    startedAt: record.startedAt,
    verified: { at, amr: addAmr(before, method), shown: { ...record.verified?.shown, [method]: at } },
    ...(record.interrupted && { interrupted: record.interrupted }),
    ...(backupCodes && { backupCodes }),
  }
}

/** What a login without a second factor leaves in the session; nothing when there is nothing to remember. */
async function begun(
  req: Request,
  deps: SessionDeps,
  user: Express.User,
  userId: string,
  login: object,
): Promise<MfaRecord | undefined> {
  const { settings } = deps
  const factors = await factorsOf(user, settings)
  const decision = await decide(req, settings, user, factors, { ...login })
  const record = await recordFor(decision, req, deps, { user, userId, factors })
  return decision.verdict === 'pass' && !record.exemption && !record.unasked ? undefined : record
}
