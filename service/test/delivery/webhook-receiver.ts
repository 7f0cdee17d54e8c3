import { createHmac } from 'node:crypto'
import { listen } from '../kit.js'
import type { Answer, OpenedCarrier } from './contract.js'

export const SECRET = 'shared with the receiver'

/** A receiver that accepts only requests that are signed with its secret, within a minute. */
export async function webhookReceiver(secret = SECRET) {
  const requests: { headers: Record<string, unknown>; body: string }[] = []
  const state: {
    secret: string
    status: number
    body: string
    silent: boolean
    retryAfter?: string | undefined
  } = {
    secret,
    status: 200,
    body: '{}',
    silent: false,
  }
  const server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (state.silent) return
    const header = String(request.headers['countersign-signature'])
    const [, time, signatures = ''] = /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/.exec(header) ?? []
    const right = createHmac('sha256', state.secret).update(`${time}.${body}`).digest('hex')
    if (!signatures.split(',v1=').includes(right) || Math.abs(Number(time) - Date.now() / 1000) > 60) {
      response.writeHead(401).end()
      return
    }
    if (state.status === 200) requests.push({ headers: request.headers, body })
    if (state.status === 302) response.setHeader('location', '/elsewhere')
    if (state.retryAfter !== undefined) response.setHeader('retry-after', state.retryAfter)
    response.writeHead(state.status).end(state.body)
  })
  return { ...server, requests, state }
}

const STATUS: Readonly<Record<Answer, number>> = {
  accept: 200,
  'no response': 200,
  'unknown recipient': 422,
  refused: 403,
  overloaded: 503,
}

/** A carrier that posts to the receiver. */
export function leadingTo(
  server: Awaited<ReturnType<typeof webhookReceiver>>,
  carrier: OpenedCarrier['carrier'],
): OpenedCarrier {
  return {
    carrier,
    get arrived() {
      return server.requests.map(({ body }) => {
        const { to, text } = JSON.parse(body) as { to: string; text: string }
        return { to: [to], content: text }
      })
    },
    answer(how) {
      server.state.silent = how === 'no response'
      server.state.retryAfter = undefined
      server.state.status = STATUS[how]
      server.state.body = how === 'accept' ? '{}' : 'no zoe@example.com +447700900123 012345 address-key'
    },
    answerWith(status, body, headers = {}) {
      Object.assign(server.state, { silent: false, status, body, retryAfter: headers['retry-after'] })
    },
    secrets: [SECRET, 'address-key'],
    close: server.close,
  }
}
