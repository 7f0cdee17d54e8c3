import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { processorTimeUs } from './processor-time.mjs'

export const API_KEY = 'key_for_benchmarks_0123456789'
export const SECRET = 'a secret for benchmarks, long enough to be taken'

/** The root of this checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The program that `npm run service` starts. */
const SERVICE = 'service/dist/main.js'

/**
 * Starts the service of a checkout as `npm run service` does, or another program of the checkout that says on which address it listens.
 * `readyMs` is the time from its start until then; its meter reads the processor time of the service and, when it is given, of
 * PostgreSQL. The process may open at most so many `files`.
 */
export async function startService({ node, env = {}, root = ROOT, program = SERVICE, postgres, files }) {
  const began = performance.now()
  const command = [node, `${root}/${program}`]
  const limited = ['sh', '-c', `ulimit -n ${files} && exec "$@"`, 'sh', ...command]
  const [file, ...args] = files === undefined ? command : limited
  const child = spawn(file, args, {
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: '0',
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET: SECRET,
      ...(postgres && { DATABASE_URL: postgres.url }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk) => {
      if (text.length > 100_000) return
      text += chunk
      const found = /listens on (http:\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    gone.then(() => reject(new Error(`The service ended: ${text}`)))
  })
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    readyMs: performance.now() - began,
    meter: async () => ({
      processorUs: processorTimeUs(child.pid),
      ...(postgres && { postgresUs: processorTimeUs(postgres.pid) }),
    }),
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

/** The bytes of a form that is posted to the service, with more `headers` if there are any. */
export function serviceRequest(port, path, body, headers = {}) {
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${API_KEY}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
