import type { Request } from 'express'

/** Whether the caller gets JSON rather than a page. Who asks for nothing in particular, as programs do, gets JSON. */
export function wantsJson(req: Request): boolean {
  return req.accepts(['json', 'html']) !== 'html'
}
