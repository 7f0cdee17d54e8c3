import type { Request, Response } from 'express'

/** A response of server-sent events, which begins with its first event. */
export interface EventStream {
  readonly hasBegun: boolean
  send(event: string, data: object): void
}

/** Whether the browser's script asks for server-sent events. */
export function wantsEvents(req: Request): boolean {
  return req.accepts(['json', 'html', 'text/event-stream']) === 'text/event-stream'
}

/** Responds with events. */
export function eventStream(res: Response): EventStream {
  return {
    get hasBegun() {
      return res.headersSent
    },
    send(event, data) {
      // A proxy would hold small events back until its buffer is full.
      if (!res.headersSent)
        res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
      res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    },
  }
}

/** Aborts when the browser has left before the response is complete. */
export function browserGone(res: Response): AbortSignal {
  const gone = new AbortController()
  res.once('close', () => gone.abort(new Error('The browser closed the connection.')))
  return gone.signal
}
