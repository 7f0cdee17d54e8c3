import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'

/*
 * The text that an editor shows of an option, as the language server of TypeScript gives it of the built declarations.
 */

const APP = `import { createMfa } from 'countersign'
createMfa({
  service: { baseUrl: 'x', apiKey: 'y', breaker: { failures: 3 } },
  factors: (user: { id: string }) => [],
  login: { pendingLifetime: '10m', evidence: () => undefined },
  limits: { failuresBeforeLock: 5 },
})
`

/** The language server, and how it is asked. */
function languageServer() {
  // The server looks for more types with npm, which must ask no registry.
  const server: ChildProcess = spawn(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '--lsp', '--stdio'],
    { env: { ...process.env, npm_config_offline: 'true' } },
  )
  const waiting = new Map<number, (result: unknown) => void>()
  let received = Buffer.alloc(0)
  let lastId = 0
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin?.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  server.stdout?.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data])
    for (;;) {
      const [head = '', length] =
        /^Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/.exec(received.toString('latin1')) ?? []
      const end = head.length + Number(length)
      if (!head || received.length < end) return
      const { id, method, result } = JSON.parse(received.subarray(head.length, end).toString())
      received = received.subarray(end)
      if (method === undefined) waiting.get(id)?.(result)
      else if (id !== undefined) send({ id, result: null })
    }
  })
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve) => {
      waiting.set(++lastId, resolve)
      send({ id: lastId, method, params })
    })
  const stop = async () => {
    server.kill()
    await once(server, 'exit')
  }
  return { ask, tell: (method: string, params: object) => send({ method, params }), stop }
}

it('an editor shows the type, the comment and the default of an option', async () => {
  const { ask, tell, stop } = languageServer()
  const root = new URL('../../', import.meta.url)
  const uri = new URL('test/options/an-app.ts', root).href
  const hover = { contentFormat: ['plaintext'] }
  await ask('initialize', {
    processId: process.pid,
    rootUri: root.href,
    capabilities: { textDocument: { hover } },
  })
  tell('initialized', {})
  tell('textDocument/didOpen', {
    textDocument: { uri, languageId: 'typescript', version: 1, text: APP },
  })
  const shown = async (option: string) => {
    const before = APP.slice(0, APP.indexOf(`${option}: `)).split('\n')
    const position = { line: before.length - 1, character: before.at(-1)?.length }
    return JSON.stringify(await ask('textDocument/hover', { textDocument: { uri }, position }))
  }
  try {
    expect(await shown('pendingLifetime')).toMatch(
      /LoginOptions<.*>\.pendingLifetime\?: Duration \| undefined.*How long the user has for the second factor after the first.*Defaults to `10m`/,
    )
    expect(await shown('failures')).toMatch(/BreakerOptions\.failures\?: number \| undefined.*Defaults to 5/)
    expect(await shown('factors')).toMatch(
      /SharedOptions<.*>\.factors\?: .*Lists the second factors of a user/,
    )
    expect(await shown('login')).toMatch(/login\?: LoginOptions<.*The login around the second factor/)
    expect(await shown('failuresBeforeLock')).toMatch(/LimitOptions\.failuresBeforeLock\?: number/)
    expect(await shown('evidence')).toMatch(/PolicyContext<.*Says what the login has proven/)
  } finally {
    await stop()
  }
})
