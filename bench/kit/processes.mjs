import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** So much of what an app writes to its error output is kept, and shown when it ends by itself. */
const ERRORS_KEPT = 4_000

const APPS = new URL('../apps/', import.meta.url)

/**
 * Starts a file of `bench/apps` in a process of its own, with the Node binary `node`. It serves with `serve()`.
 * @returns its port, `ask` for its answers, `meter` for `load`, and `stop`.
 */
export async function startApp(name, { node = process.execPath, env = {}, nodeArguments = [] } = {}) {
  const child = fork(fileURLToPath(new URL(`${name}.mjs`, APPS)), [], {
    execPath: node,
    execArgv: nodeArguments,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = (errors + text).slice(-ERRORS_KEPT)
  })
  const waiting = new Map()
  let questions = 0
  const ended = once(child, 'exit').then(([code]) => {
    for (const { reject } of waiting.values())
      reject(new Error(`${name} ended with exit code ${code}.\n${errors}`))
  })
  const [first] = await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error(`${name} ended before it listened.\n${errors}`)
    }),
  ])
  child.on('message', ({ id, answer }) => {
    waiting.get(id)?.resolve(answer)
    waiting.delete(id)
  })
  const ask = (question, value) => {
    const id = questions++
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      child.send({ id, question, value })
    })
  }
  return {
    name,
    port: first.port,
    url: `http://127.0.0.1:${first.port}`,
    pid: child.pid,
    ask,
    meter: async () => ({ processorUs: (await ask('usage')).processorUs }),
    /** The end of what the app wrote to its error output. */
    errors: () => errors,
    async stop() {
      child.kill()
      await ended
    },
  }
}
