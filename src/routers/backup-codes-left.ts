import { sendProblem } from '../visit/problem.js'
import { showPage } from './reply.js'
import type { Visitor } from './visitor.js'

/** Warns whoever signed in by one of their last backup codes, and leads on to where they wanted to go. */
export function showBackupCodesLeft(visitor: Visitor): void {
  const { res, deps, known, html } = visitor
  const { verified, backupCodes } = known.record
  if (!html) return sendProblem(res, { code: 'not_found' })
  if (!verified || backupCodes?.next === undefined) return res.redirect(303, deps.settings.homePath)
  const { left, next } = backupCodes
  showPage(visitor, { page: 'backup-codes-left', left, next })
}
