import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const API_KEY = 'key_for_benchmarks_0123456789'
export const SECRET = 'a secret for benchmarks, long enough to be taken'

const MAIN = fileURLToPath(new URL('../../service/dist/main.js', import.meta.url))
const BARE = fileURLToPath(new URL('./bare.mjs', import.meta.url))

/** Starts the service as `npm run service` does; `readyMs` is the time from its start until it listens. */
export function startService(env = {}) {
  return start(MAIN, env)
}

/** Starts the same service without the store call of a verification. */
export function startBare(env = {}) {
  return start(BARE, env)
}

async function start(file, env) {
  const began = performance.now()
  const child = spawn(process.execPath, [file], {
    env: {
      PATH: process.env.PATH,
      SERVICE_PORT: '0',
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET: SECRET,
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
    child.stderr.on('data', look).pipe(process.stderr)
    gone.then(() => reject(new Error(`The service ended: ${text}`)))
  })
  return {
    url,
    pid: child.pid,
    readyMs: performance.now() - began,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await gone
    },
  }
}

/** Milliseconds of processor time of a process and all its children so far. */
export function processorMs(pid) {
  const parents = new Map()
  const own = new Map()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
      parents.set(Number(name), Number(fields[1]))
      // utime and stime, in ticks of 10 ms.
      own.set(Number(name), (Number(fields[11]) + Number(fields[12])) * 10)
    } catch {
      // It has ended meanwhile.
    }
  }
  let sum = 0
  for (const [one, ms] of own) if (one === pid || parents.get(one) === pid) sum += ms
  return sum
}
