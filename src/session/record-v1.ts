import * as z from 'zod'
import { AMR_VALUES } from '../protocol/amr.js'
import { METHODS } from '../protocol/methods.js'
import type { MfaRecord } from './record.js'

/*
 * The record of release 0.1. Verified, trusted and exempt sessions of that release stay valid. A pending login does not:
 * this release does not read what was under way in it, so its user signs in again.
 */

const time = z.number().int().nonnegative()

const earlierRecord = z.object({
  version: z.literal(1),
  userId: z.string(),
  sessionId: z.string(),
  transaction: z.string(),
  startedAt: time,
  returnTo: z.string().optional(),
  exemption: z.literal('policy').optional(),
  unasked: z.literal(true).optional(),
  trusted: z.object({ device: z.string() }).optional(),
  verified: z
    .object({
      at: time,
      amr: z.array(z.enum(AMR_VALUES)),
      shown: z.partialRecord(z.enum([...METHODS, 'backup']), time).default({}),
    })
    .optional(),
})

/** The record of release 0.1 that a session stores, if it belongs to this user and session and still counts. */
export function readEarlierRecord(
  stored: object,
  owner: { readonly userId: string; readonly sessionId: string },
): MfaRecord | undefined {
  const parsed = earlierRecord.safeParse(stored)
  if (!parsed.success) return undefined
  const { userId, sessionId, transaction, startedAt, returnTo, ...earlier } = parsed.data
  if (userId !== owner.userId || sessionId !== owner.sessionId) return undefined
  const base = { ...owner, transaction, startedAt, ...(returnTo !== undefined && { returnTo }) }
  if (earlier.verified) {
    const { at, amr, shown } = earlier.verified
    return { ...base, stage: 'verified', verifiedAt: at, amr, shown }
  }
  if (earlier.trusted) return { ...base, stage: 'trusted', device: earlier.trusted.device }
  if (earlier.exemption) return { ...base, stage: 'exempt', exemption: 'policy' }
  if (earlier.unasked) return { ...base, stage: 'exempt', exemption: 'not_required' }
  // Its first factor was shown at the beginning of time, so it has expired.
  return { ...base, stage: 'pending', startedAt: 0 }
}
