import type { IncomingHttpHeaders } from 'node:http'
import { listen } from '../kit.js'
import type { Answer } from './contract.js'

/** A request to the API of a provider. */
export interface ProviderRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer of the API. */
export interface ProviderAnswer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** How a provider's API behaves, as its documentation says. */
export interface ProviderApi {
  readonly path: string
  /** The answer to a request with wrong credentials or a wrong form; `undefined` for a right one. */
  refuse(
    request: ProviderRequest,
    url: string,
  ): ProviderAnswer | undefined | Promise<ProviderAnswer | undefined>
  readonly answers: Readonly<Record<Exclude<Answer, 'no response'>, ProviderAnswer>>
}

const NOT_FOUND: ProviderAnswer = { status: 404, body: 'no such path' }

/** A server with the API of a provider. It keeps the requests that it accepted. */
export async function providerStub(api: ProviderApi) {
  const accepted: ProviderRequest[] = []
  let silent = false
  let answer: ProviderAnswer = api.answers.accept
  const server = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (silent) return
    const { method = '', url: path = '', headers } = request
    const received = { method, path, headers, body }
    const isKnown = method === 'POST' && path === api.path
    const refusal = isKnown ? await api.refuse(received, `${server.url}${path}`) : NOT_FOUND
    const sent = refusal ?? answer
    if (sent === api.answers.accept) accepted.push(received)
    response.writeHead(sent.status, sent.headers).end(sent.body)
  })
  return {
    url: server.url,
    host: server.url.replace('http://', ''),
    accepted,
    close: server.close,
    answerWith(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
      answer = { status, body, headers }
    },
    answer(how: Answer) {
      silent = how === 'no response'
      if (how !== 'no response') answer = api.answers[how]
    },
  }
}
