import { createHmac } from 'node:crypto'
import { listen } from '../kit.js'
import type { Answer, OpenedCarrier } from './contract.js'

export const SECRET = 'shared with the receiver'

/** A receiver that takes only what is signed, within a minute. */
export async function webhookReceiver() {
  const requests: { headers: Record<string, unknown>; body: string }[] = []
  const state: { status: number; body: string; silent: boolean } = { status: 200, body: '{}', silent: false }
  const server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (state.silent) return
    const [, time, signature] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['countersign-signature'])) ?? []
    const right = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')
    if (signature !== right || Math.abs(Number(time) - Date.now() / 1000) > 60) {
      response.writeHead(401).end()
      return
    }
    if (state.status === 200) requests.push({ headers: request.headers, body })
    response.writeHead(state.status, state.status === 302 ? { location: '/elsewhere' } : {}).end(state.body)
  })
  return { ...server, requests, state }
}

const STATUS: Readonly<Record<Answer, number>> = {
  take: 200,
  silence: 200,
  'no such contact': 422,
  'not for you': 403,
  later: 503,
}

/** A carrier at whose other end the receiver is. */
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
      server.state.silent = how === 'silence'
      server.state.status = STATUS[how]
      server.state.body = how === 'take' ? '{}' : 'no zoe@example.com +447700900123 012345 address-key'
    },
    secrets: [SECRET, 'address-key'],
    close: server.close,
  }
}
