import { verifyWebhook } from 'countersign'
import type { WebhookEvent } from 'countersign/protocol'
import { listen } from '../kit.js'

/** An endpoint of an application, which accepts only what `verifyWebhook` accepts. */
export async function eventReceiver() {
  const events: WebhookEvent[] = []
  const requests: { readonly headers: Record<string, unknown>; readonly body: string }[] = []
  const state: {
    secrets: string[]
    status: number
    body: string
    silent: boolean
    headers: Record<string, string>
  } = { secrets: [], status: 204, body: '', silent: false, headers: {} }
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    requests.push({ headers: request.headers, body: body.toString() })
    if (state.silent) return
    try {
      const event = verifyWebhook(body, request.headers, state.secrets)
      if (state.status < 300) events.push(event)
      response.writeHead(state.status, state.headers).end(state.body)
    } catch {
      response.writeHead(401).end()
    }
  })
  return { ...server, events, requests, state }
}
