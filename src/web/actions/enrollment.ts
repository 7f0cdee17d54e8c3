import type { Request, Response } from 'express'
import * as z from 'zod'
import { HostError, SessionEndedError, sessionEnded } from '../../errors.js'
import { type Refused, refuse } from '../../flows/deps.js'
import type { Prepared } from '../../flows/enroll-app.js'
import type { KeyAccount } from '../../flows/keys.js'
import type { Settings } from '../../options/settings.js'
import type { Contact } from '../../protocol/contact.js'
import { isAtLeast, type RecordedFactors } from '../../protocol/factor.js'
import { KEY_METHODS, type KeyMethod } from '../../protocol/methods.js'
import { hasEnded } from '../../session/find-state.js'
import { listMethods } from '../../session/record.js'
import { detachSession } from '../../session/transport.js'
import { findAppContact } from '../../session/user-factors.js'
import { pickGiven } from '../../shape.js'
import { type BrowserSeal, browserSeal } from '../http/browser-seal.js'
import type { RequestContext } from './context.js'

/*
 * An enrollment page can be loaded again, on another process too, so QR code and key are kept for as long.
 */

const enrollmentSeal = browserSeal('mfa_enrollment')

/** The longest QR code that is kept. A longer one is shown as a key only when the page is loaded again. */
const MAX_QR_LENGTH = 20_000

const shown = z.object({
  qr: z.string().optional(),
  uri: z.string().optional(),
  secret: z.string().optional(),
})

/** The texts that the user needs to set up an authenticator app. */
export type ShownEnrollment = Partial<Pick<Prepared, 'qr' | 'uri' | 'secret'>>

/** Encrypts what an enrollment page shows, and gives the browser the key for `lifetimeMs`. */
export function sealEnrollment(
  exchange: { readonly req: Request; readonly res: Response },
  { qr, ...rest }: ShownEnrollment,
  scope: Parameters<BrowserSeal['seal']>[2],
): string {
  const needsQr = rest.uri === undefined && qr !== undefined && qr.length <= MAX_QR_LENGTH
  const kept = needsQr ? { ...rest, qr } : rest
  return enrollmentSeal.seal(exchange, JSON.stringify(kept), scope)
}

/** The texts that the enrollment page shows, if this browser has the key; otherwise nothing. */
export function openEnrollment(
  req: Request,
  sealed: string | undefined,
  scope: Parameters<BrowserSeal['open']>[2],
): ShownEnrollment {
  const text = enrollmentSeal.open(req, sealed, scope)
  if (text === undefined) return {}
  return pickGiven(shown.parse(JSON.parse(text)))
}

/** Removes the cookie with the key of an enrollment. */
export function forgetEnrollment(res: Response, settings: Settings): void {
  enrollmentSeal.forget(res, settings)
}

/** Whether the session may set up the first factor of its account (R112, R120). */
export function mayEnrollFirst({ state: { record } }: Pick<RequestContext, 'state'>): boolean {
  if (record.stage === 'exempt') return record.exemption !== 'policy'
  const restsOnEvidence = record.stage === 'verified' && listMethods(record).length === 0
  return !restsOnEvidence || record.evidence?.mayEnroll === true
}

/** The page of a factor that can be set up. */
export type EnrollPath = '/enroll-app' | '/keys'

/** Whether the factor of a page is offered, and as strong as a pending login requires (R115). */
export function isEnoughFactor(
  { deps, user: { minStrength }, state, requirement }: RequestContext,
  path: EnrollPath,
): boolean {
  // A new app replaces the app that a reset ended; beside a key, the service would have to remove it.
  if (path === '/keys' && requirement.open && !deps.service.removeFactor) return false
  if (path === '/enroll-app' && !deps.settings.apps) return false
  const method = path === '/keys' ? 'passkey' : 'app'
  return state.stage !== 'pending' || minStrength === undefined || isAtLeast(method, minStrength)
}

/** Where a program sets up the factor that is missing: a key where an app is not strong enough. */
export function enrollPathFor(context: RequestContext): EnrollPath {
  return context.deps.keys.areOffered && !isEnoughFactor(context, '/enroll-app') ? '/keys' : '/enroll-app'
}

/** Confirms a new factor. Of the sessions that an open reset let in, one at a time, none afterwards (R135). */
export async function confirmFactor<Outcome extends { readonly outcome: string }>(
  context: RequestContext,
  confirm: () => Promise<Outcome | Refused>,
): Promise<Outcome | Refused> {
  const { deps, state, requirement } = context
  const { open } = requirement
  if (!open) return changeFactor(context, confirm)
  const { transactions, resets } = deps
  const turn = `reset:${open.id}`
  if (!(await transactions.acquire(state.userId, turn))) return refuse({ code: 'session_ended' })
  try {
    const isOpen = (await resets.find(state.userId))?.id === open.id
    return isOpen ? await confirm() : refuse({ code: 'session_ended' })
  } finally {
    await transactions.release(state.userId, turn)
  }
}

/**
 * Takes a factor back whose session ended before the service had it: the reset or link that ended the session did not know of it.
 * @throws {SessionEndedError} then. @throws {ServiceError} if the service does not remove it.
 */
export async function takeBackIfEnded(
  context: RequestContext,
  takeBack: (account: KeyAccount) => Promise<void>,
): Promise<void> {
  const { req, deps, state, user } = context
  if (!(await hasEnded(deps, state.record))) return
  await takeBack({ user, contact: appContact(context) })
  detachSession(req)
  throw sessionEnded()
}

/** Changes a factor, at most ten times an hour (R43). What an open reset requires does not count (R153). */
export async function changeFactor<Outcome extends { readonly outcome: string }>(
  { deps, state, requirement }: Pick<RequestContext, 'deps' | 'state' | 'requirement'>,
  change: () => Promise<Outcome | Refused>,
): Promise<Outcome | Refused> {
  if (requirement.open) return change()
  const permit = await deps.factorChanges.permit(state.userId)
  if (!permit.ok) return refuse({ code: 'too_many_changes', retryAfterSeconds: permit.retryAfterSeconds })
  try {
    const outcome = await change()
    if (outcome.outcome === 'refused') await permit.undo()
    return outcome
  } catch (error) {
    // The service may have the factor then.
    if (!(error instanceof SessionEndedError || error instanceof HostError)) await permit.undo()
    throw error
  }
}

/** The contact under which the service stores the user's app and keys. */
export function appContact({ deps, state, user }: RequestContext): Contact {
  return findAppContact(deps.settings, state.user, state.userId, user.existing)
}

/** Has the host's record follow a change of factors, and ends decisions made without it (R133). @throws the host's error if only its record knows of a new app */
export async function recordFactors(
  context: RequestContext,
  change: Partial<RecordedFactors>,
): Promise<void> {
  const { deps, state, user, requirement } = context
  const { factorChanges, factorRecord, settings } = deps
  if (change.app !== undefined || change.keys !== undefined) await factorChanges.add(state.userId)
  if (!settings.recordedFactors) return
  const contact = appContact(context)
  const isEnded = (method: KeyMethod | 'app') => requirement.open?.hasEnded({ method, contact })
  const ended = {
    ...(isEnded('app') && { app: false }),
    ...(KEY_METHODS.some(isEnded) && { keys: false }),
    ...(requirement.open?.endsAll && { backupCodes: false }),
  }
  const who = { user: state.user, userId: state.userId, factors: user.existing, contact }
  await factorRecord.follow(who, { ...ended, ...change })
}
