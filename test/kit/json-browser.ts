import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { MfaStatus } from '../../src/index.js'

/** The members that tests read of an answer. */
interface JsonAnswer {
  readonly isOk: boolean
  readonly body: {
    readonly [name: string]: unknown
    readonly secret?: string
    readonly mfa?: MfaStatus
    readonly approval?: { readonly id: string }
  }
}

const connections = new Agent({ keepAlive: true })

/** A browser that asks a server on this machine for JSON. It keeps cookies and connections, so thousands of requests take seconds. */
export function jsonBrowser(port: number) {
  const cookies = new Map<string, string>()
  return (method: 'GET' | 'POST', path: string, body: object = {}) =>
    new Promise<JsonAnswer>((resolve, reject) => {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const headers = { accept: 'application/json', 'content-type': 'application/json', cookie }
      request({ port, method, path, agent: connections, headers }, (res) => {
        for (const line of res.headers['set-cookie'] ?? []) {
          const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? []
          if (value) cookies.set(name, value)
          else cookies.delete(name)
        }
        const isOk = (res.statusCode ?? 0) < 300
        text(res)
          .then((read) => resolve({ isOk, body: JSON.parse(read || '{}') }))
          .catch(reject)
      })
        .on('error', reject)
        .end(method === 'POST' ? JSON.stringify(body) : undefined)
    })
}
