import type { Request } from 'express'

/** Whether the answer should be a page. Who asks for nothing in particular, as programs do, gets JSON. */
export function wantsHtml(req: Request): boolean {
  return req.accepts(['json', 'html']) === 'html'
}

/** Whether the browser fetches a part of a page, like an image, rather than a page or data. */
export function isSubresource(req: Request): boolean {
  const destination = req.get('sec-fetch-dest')
  if (destination) return !['document', 'iframe', 'frame', 'empty'].includes(destination)
  return req.accepts(['json', 'html']) === false
}
