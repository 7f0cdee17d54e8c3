import type { AnswerOf, MfaService } from '../protocol/service.js'
import { remember } from '../remember.js'
import type { BackupCodesLeft } from '../stores/limits/attempts.js'
import { limitTime } from '../time.js'
import { backupOwner, backupTarget } from './backup-target.js'
import { createCaller, type MfaUser } from './user.js'

/** How long a page waits for the service. */
const MAX_WAIT_MS = 500
/** How long an offer relies on an answer of the service. Codes may be used or requested in another process meanwhile. */
const OFFERED_FOR_MS = 30_000

/** How many backup codes users have, by the service or by what was sent. Never fails, and waits at most a second. */
export interface BackupCodes {
  left(user: MfaUser): Promise<BackupCodesLeft>
  /** How many the user had in the last half minute: enough to offer one, and the pages of a sign-in ask the service once. */
  leftRecently(user: MfaUser): Promise<BackupCodesLeft>
  /** Forgets how many the user had, since codes were sent or used. */
  forget(userId: string): void
}

/** Counts the backup codes that the service knows, or else those that the plugin had sent. Answers are remembered in this process. */
export function createBackupCodes(service: Pick<MfaService, 'factorsOf'>): BackupCodes {
  const answered = new Map<string, { readonly left: number; readonly until: number }>()

  const countLeft = async (user: MfaUser): Promise<BackupCodesLeft> => {
    if (!backupOwner(user)) return 0
    const target = backupTarget(user)
    const answer = await askForFactors(service, user)
    if (!answer) return target ? countRemembered(user) : 0
    // Without a contact, only codes that were shown on a page can be used.
    const left = target || answer.backupDelivery === 'page' ? answer.backupCodesLeft : 0
    return remember(answered, user.userId, { left, until: Date.now() + OFFERED_FOR_MS }).left
  }

  return {
    left: countLeft,
    async leftRecently(user) {
      const known = answered.get(user.userId)
      return known && known.until > Date.now() ? known.left : countLeft(user)
    },
    forget: (userId) => void answered.delete(userId),
  }
}

/** The answer of the service about a user's factors, if it can tell within half a second. Never fails. */
export async function askForFactors(
  service: Pick<MfaService, 'factorsOf'>,
  user: MfaUser,
): Promise<AnswerOf<'factorsOf'> | undefined> {
  const owner = backupOwner(user)
  if (!owner) return undefined
  const ask = async () => service.factorsOf?.({ contact: owner.contact, ...createCaller(user) })
  return limitTime(ask(), MAX_WAIT_MS).catch(() => undefined)
}

/** How many codes the limits remember. */
async function countRemembered(user: MfaUser): Promise<BackupCodesLeft> {
  try {
    return (await user.limits()).backupCodesLeft
  } catch {
    return undefined
  }
}
