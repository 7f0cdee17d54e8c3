import type { Response } from 'express'

/** Responds with an HTML document. It has no `ETag`, since no browser may keep it (`Cache-Control: no-store`). */
export function sendPage(res: Response, markup: string): void {
  const body = Buffer.from(markup)
  res.setHeader('Content-Type', 'text/html; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  res.end(body)
}
