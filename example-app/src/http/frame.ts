import type { Request } from 'express'
import type { VaultContext } from '../context.js'
import { languageOf } from '../language.js'
import type { Frame } from '../views/layout.js'

/** The frame of a page that responds to this request. */
export function frameOf(
  req: Request,
  { inbox, config }: Partial<Pick<VaultContext, 'inbox' | 'config'>>,
): Frame {
  const isStaff = req.user !== undefined && config?.staff.includes(req.user.username) === true
  return {
    inbox: inbox !== undefined,
    helpDesk: isStaff && config?.publicUrl !== undefined,
    acting: Boolean(req.mfa?.actor),
    language: languageOf(req),
  }
}
