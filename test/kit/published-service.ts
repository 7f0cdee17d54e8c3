import { createServer, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import type { ServiceAddress } from '../../src/options/service.js'
import { listenOnLoopback } from './loopback.js'

const API_KEY = 'key-of-a-published-service-0123456789'

/**
 * A service that speaks the published interface and nothing else, over HTTP. It answers a wrong code and a refused key with the same
 * bare 401, and compares codes as they arrive. Ends with the test.
 */
export async function publishedService() {
  const codes = new Map<string, string>()
  const state = {
    isKeyValid: true,
    /** Contacts whose sends are answered with 401 although the key is valid. */
    refusedSends: new Set<string>(),
    /** The status of a send without parameters. */
    emptySend: 400,
    /** The answer of verify whatever the code is, if set. */
    verifyStatus: undefined as number | undefined,
    /** The body of every answer of verify, if set. */
    verifyBody: undefined as object | undefined,
    evaluated: [] as { readonly user: string; readonly type: string; readonly code: string }[],
    sends: [] as string[],
  }
  const statusOf = (path: string, form: URLSearchParams) => {
    const [user = '', type = '', code = ''] = ['User', 'Type', 'Code'].map((name) => form.get(name) ?? '')
    if (!state.isKeyValid) return 401
    if (path === '/v1/mfa/verify') {
      state.evaluated.push({ user, type, code })
      if (state.verifyStatus !== undefined) return state.verifyStatus
      return codes.get(`${type} ${user}`) === code ? 200 : 401
    }
    state.sends.push(user)
    if (user === '') return state.emptySend
    if (state.refusedSends.has(user)) return 401
    if (type !== 'EMAIL' && path === '/v1/mfa') codes.set(`PHONE ${user}`, '314159')
    if (path === '/v1/mfa/app') codes.set(`APP ${user}`, '271828')
    return 200
  }
  const bodyOf = (path: string) => {
    if (path === '/v1/mfa/app') return '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    return path === '/v1/mfa/verify' && state.verifyBody ? JSON.stringify(state.verifyBody) : ''
  }
  const server = createServer(async (request, response) => {
    const { url = '' } = request
    response.statusCode = statusOf(url, await formIn(request))
    response.end(bodyOf(url))
  })
  const address: ServiceAddress = {
    baseUrl: `http://127.0.0.1:${await listenOnLoopback(server)}`,
    apiKey: API_KEY,
    dialect: 'published',
  }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    address,
    state,
    /** Sets the code that is right for a contact: an app's code or a backup code. */
    setCode: (user: string, type: 'APP' | 'EMAIL' | 'PHONE', code: string) =>
      codes.set(`${type} ${user}`, code),
    /** The code that it sent to a phone. */
    sentCode: '314159',
    /** The code that every app shows that was set up. */
    appCode: '271828',
  }
}

async function formIn(request: IncomingMessage): Promise<URLSearchParams> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return new URLSearchParams(body)
}
