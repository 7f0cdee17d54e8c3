import type { Request } from 'express'

/** Whether to respond with JSON. A client without a preference, as most programs are, gets JSON. */
export function wantsJson(req: Request): boolean {
  return req.accepts(['json', 'html']) !== 'html'
}
