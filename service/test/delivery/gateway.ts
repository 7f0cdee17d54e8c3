import { listen } from '../kit.js'
import type { Answer } from './contract.js'

/** A request that the gateway received. */
export interface GatewayRequest {
  readonly path: string
  readonly form: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, unknown>>
}

export const ACCOUNT = 'AC0123456789abcdef'
export const TOKEN = 'tok:en%41'

const ANSWERS: Readonly<Record<Exclude<Answer, 'no response'>, readonly [number, object]>> = {
  accept: [201, { sid: 'SM7', status: 'queued', error_code: null }],
  'unknown recipient': [
    400,
    { code: 21_211, message: "The 'To' number +447700900123 is not valid for 012345.", status: 400 },
  ],
  refused: [401, { code: 20_003, message: `Authenticate, not ${TOKEN}`, status: 401 }],
  overloaded: [429, { code: 20_429, message: 'Too Many Requests to +447700900123', status: 429 }],
}

/** A gateway with Twilio's REST API: checks account and credentials, and requires a form. */
export async function gateway() {
  const requests: GatewayRequest[] = []
  let silent = false
  let answer: readonly [number, object | string, Readonly<Record<string, string>>?] = ANSWERS.accept
  const login = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`
  const server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (silent) return
    const json = (
      status: number,
      content: object | string,
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    }
    const path = request.url ?? ''
    if (request.headers.authorization !== login) return json(401, { code: 20_003, status: 401 })
    if (request.method === 'GET' && path === `/2010-04-01/Accounts/${ACCOUNT}.json`) {
      return json(200, { sid: ACCOUNT, status: 'active' })
    }
    const known = new RegExp(`^(/api/laml)?/2010-04-01/Accounts/${ACCOUNT}/(Messages|Calls)\\.json$`)
    if (request.method !== 'POST' || !known.test(path)) return json(404, { code: 20_404, status: 404 })
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') return json(415, {})
    const fields = [...new URLSearchParams(body)]
    // A repeated parameter would add a second recipient.
    if (new Set(fields.map(([name]) => name)).size !== fields.length) return json(400, { code: 21_604 })
    if (answer[0] === 201) requests.push({ path, form: Object.fromEntries(fields), headers: request.headers })
    json(...answer)
  })
  return {
    host: server.url.replace('http://', ''),
    requests,
    close: server.close,
    answerWith(status: number, content: object | string, headers: Readonly<Record<string, string>> = {}) {
      answer = [status, content, headers]
    },
    answer(how: Answer) {
      silent = how === 'no response'
      if (how !== 'no response') answer = ANSWERS[how]
    },
  }
}
