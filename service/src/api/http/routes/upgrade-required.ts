import { streamWire } from 'countersign/speech'
import type { RequestHandler } from 'express'
import { problem } from '../problem.js'

/** `GET /v1/transcribe/stream` without the header `Upgrade`. A WebSocket does not get here. */
export const upgradeRequired: RequestHandler = function requireUpgrade({ query }, response) {
  const errors = []
  if (query.language !== undefined && !streamWire.streamLanguage.safeParse(query.language).success) {
    errors.push({ field: 'language', detail: 'must be one language tag such as en or pt-BR' })
  }
  if (query.ticket !== undefined && !streamWire.STREAM_TICKET.test(String(query.ticket))) {
    errors.push({ field: 'ticket', detail: 'must be one ticket' })
  }
  if (errors.length > 0) return problem(response, 'invalid_request', { errors })
  response.set({ Connection: 'Upgrade', Upgrade: 'websocket' })
  problem(response, 'upgrade_required')
}
