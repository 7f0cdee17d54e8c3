import type { Request } from 'express'
import type { Settings } from '../settings.js'

/** The languages a request asks for, best first. */
export function localesOf(req: Request, settings: Settings): readonly string[] {
  const chosen = settings.locale?.(req)
  return chosen ? [chosen] : req.acceptsLanguages().filter((tag) => tag !== '*')
}
