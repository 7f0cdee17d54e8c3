import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runningApp } from '../probe/probed-app.js'

/** An app that runs in a process of its own. */
export interface StartedApp {
  readonly url: URL
  /** The text that it has printed. */
  output(): string
  /** Ends it with all processes that it started. */
  stop(): Promise<void>
}

/**
 * Loaded into each process of the app before its own code. An HTTP server listens on a free port of this machine only, so that it
 * reaches nobody else and does not get in the way of an app that is running, and the port is written to a file.
 */
const LISTEN_HERE = `
const { appendFileSync } = require('fs')
const http = require('http')
const { listen } = http.Server.prototype
http.Server.prototype.listen = function (...args) {
  const [first] = args
  const isSocket = typeof first === 'string' && Number.isNaN(Number(first))
  const isHandle = typeof first === 'object' && first !== null && !('port' in first)
  if (isSocket || isHandle) return Reflect.apply(listen, this, args)
  this.once('listening', () => appendFileSync(process.env.COUNTERSIGN_PORTS, this.address().port + '\\n'))
  const done = args.filter((one) => typeof one === 'function')
  return Reflect.apply(listen, this, [{ port: 0, host: '127.0.0.1' }, ...done])
}
`

/** Runs a command in the folder of an app, and waits until the app answers at a path. */
export async function startApp(
  folder: string,
  command: string,
  { path, timeoutMs }: { readonly path: string; readonly timeoutMs: number },
): Promise<StartedApp> {
  const own = await mkdtemp(join(tmpdir(), 'countersign-init-'))
  const [script, ports] = [join(own, 'listen.cjs'), join(own, 'ports')]
  await Promise.all([writeFile(script, LISTEN_HERE), writeFile(ports, '')])
  const options = [process.env.NODE_OPTIONS, `--require ${JSON.stringify(script)}`].filter(Boolean).join(' ')
  const child = spawn(command, {
    cwd: folder,
    shell: true,
    // A group of its own, which can be ended together.
    detached: process.platform !== 'win32',
    env: { ...process.env, NODE_OPTIONS: options, COUNTERSIGN_PORTS: ports },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-20_000)
    })
  }
  const stop = async () => {
    process.off('SIGINT', handleInterrupt).off('SIGTERM', handleInterrupt)
    await end(child)
    await rm(own, { recursive: true, force: true })
  }
  // The app is in another process group, which a signal from the terminal does not reach.
  const handleInterrupt = () => void stop().finally(() => process.exit(INTERRUPTED))
  process.once('SIGINT', handleInterrupt).once('SIGTERM', handleInterrupt)
  const until = Date.now() + timeoutMs
  while (Date.now() < until && child.exitCode === null && child.signalCode === null) {
    const found = (await readFile(ports, 'utf8')).split('\n').filter(Boolean)
    for (const port of found) {
      const url = new URL(`http://127.0.0.1:${port}/`)
      // Several servers can run beside each other, such as one that reloads pages.
      if (await answers(new URL(path, url))) return { url, output: () => output, stop }
    }
    await wait(100)
  }
  await stop()
  throw new Error(
    `The app did not start with "${command}", or did not answer at ${path}. It printed:\n${output.trim()}`,
  )
}

async function answers({ origin, pathname }: URL): Promise<boolean> {
  const answer = await runningApp(origin, {}, { timeoutMs: ANSWER_MS })
    .agent()(pathname)
    .catch(() => undefined)
  const isOurs = answer?.headers.get('Content-Type')?.includes('json') === true && answer.status !== 404
  await answer?.body?.cancel()
  return isOurs
}

const ANSWER_MS = 10_000
/** The exit code of a shell for a command that was interrupted. */
const INTERRUPTED = 130

const MOST_MS_TO_END = 5_000

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const { pid } = child
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (process.platform === 'win32') spawn('taskkill', ['/pid', String(pid), '/t', '/f'])
      else process.kill(-pid, signal)
    } catch {
      // It ended by itself in the meantime.
    }
  }
  const gone = once(child, 'exit')
  kill('SIGTERM')
  const isGone = await Promise.race([gone.then(() => true), wait(MOST_MS_TO_END, false, { ref: false })])
  if (!isGone) kill('SIGKILL')
  await gone
}
