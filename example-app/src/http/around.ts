import type { Request } from 'express'
import type { VaultContext } from '../context.js'
import { languageOf } from '../language.js'
import type { Around } from '../views/layout.js'

/** What stands around a page that answers this request. */
export function aroundOf(req: Request, { inbox }: Partial<Pick<VaultContext, 'inbox'>>): Around {
  return { inbox: inbox !== undefined, language: languageOf(req) }
}
