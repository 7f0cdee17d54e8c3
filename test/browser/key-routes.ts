import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listenOnLoopback } from '../kit/loopback.js'

const MODULE = new URL('../../dist/esm/browser.mjs', import.meta.url)

/** A response of a route: a JSON body with its status, or a connection that ends. */
export type Reply = { readonly status?: number; readonly body: object } | 'hang up'

export const USER_HANDLE = Buffer.from('alice').toString('base64url')

/** Options for a new key, as the service makes them. */
export function creation(more: object = {}) {
  return {
    challenge: randomBytes(32).toString('base64url'),
    rp: { id: 'localhost', name: 'Vault' },
    user: { id: USER_HANDLE, name: 'alice@vault.example', displayName: 'alice' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    ...more,
  }
}

/** Options for an assertion, as the service makes them. */
export function assertion(ids: readonly string[], more: object = {}) {
  return {
    challenge: randomBytes(32).toString('base64url'),
    rpId: 'localhost',
    allowCredentials: ids.map((id) => ({ type: 'public-key', id })),
    userVerification: 'discouraged',
    ...more,
  }
}

/** Serves `countersign/browser` as it is shipped, an empty page, and whatever the test sets for the routes below `/mfa`. */
export async function serveKeyRoutes() {
  const replies = new Map<string, Reply>()
  const requests: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/'
    if (path === '/browser.mjs') {
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(MODULE))
    }
    if (!path.startsWith('/mfa')) {
      const policy = path === '/forbidden' && { 'permissions-policy': 'publickey-credentials-get=()' }
      return void response
        .writeHead(200, { 'content-type': 'text/html', ...policy })
        .end('<!doctype html><title>Vault</title>')
    }
    let text = ''
    for await (const chunk of request) text += String(chunk)
    requests.push({ path, body: text === '' ? {} : JSON.parse(text) })
    const reply = replies.get(path) ?? { status: 404, body: { code: 'not_found' } }
    if (reply === 'hang up') return void request.socket.destroy()
    const { status = 200, body } = reply
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://localhost:${port}`,
    /** The bodies that a route received, in order. */
    bodiesOf: (path: string) => requests.filter((one) => one.path === path).map(({ body }) => body),
    /** Sets what a route responds from now on. */
    reply(path: string, reply: Reply) {
      replies.set(path, reply)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}
