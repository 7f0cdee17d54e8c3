import type { Response } from 'express'

/** Aborts when the caller closes the connection before the response is sent. */
export function callerGoneSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('The caller closed the connection.')))
  return gone.signal
}
