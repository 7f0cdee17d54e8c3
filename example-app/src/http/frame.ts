import type { Request } from 'express'
import type { VaultContext } from '../context.js'
import { languageOf } from '../language.js'
import type { Frame } from '../views/layout.js'

/** The frame of a page that responds to this request. */
export function frameOf(req: Request, { inbox }: Partial<Pick<VaultContext, 'inbox'>>): Frame {
  return { inbox: inbox !== undefined, language: languageOf(req) }
}
