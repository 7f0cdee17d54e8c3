import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { readEnvironment } from './environment.js'
import { FaultsError } from './configuration-error.js'
import { apiServer } from './http/server.js'
import { lineBuffer } from './log/line-buffer.js'
import { jsonLogger } from './log/logger.js'
import { createService } from './service.js'
import { shutDown } from './shutdown.js'

const FINISH_WITHIN_MS = 10_000

/** For whoever started the process; standard output is the log. */
function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}

async function main(): Promise<void> {
  const { options, port, drainSeconds, warnings } = readEnvironment(process.env, { dataDir: '.data' })
  for (const warning of warnings) tell(`warning: ${warning}`)
  // In production a key has no place in whatever keeps the output of a process.
  const made =
    options.apiKey || process.env.NODE_ENV === 'production'
      ? undefined
      : `mfa_${randomBytes(32).toString('base64url')}`
  const log = lineBuffer(process.stdout)
  process.on('exit', log.flush)
  const service = await createService({
    ...options,
    ...(made && { apiKey: made }),
    logger: jsonLogger(log),
  })
  if (made) tell(`SERVICE_API_KEY is not set. For this run the key is ${made}`)
  else if (!options.apiKey) tell('SERVICE_API_KEY is not set: only keys made by `key create` are taken.')
  const server = apiServer(service.api, options.publicUrl)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  }).catch(async (error: unknown) => {
    await service.close()
    throw whyNotListening(error, port)
  })
  tell(`The MFA service listens on http://localhost:${(server.address() as AddressInfo).port}`)
  if (service.inbox)
    tell('Messages do not leave this machine: read them at GET /v1/test/inbox?to=… with the API key.')

  const patience = new AbortController()
  let stopping = false
  const stop = () => {
    if (stopping) return patience.abort()
    stopping = true
    const times = { drainMs: drainSeconds * 1000, finishWithinMs: FINISH_WITHIN_MS }
    // What hangs in spite of everything must not keep the process.
    setTimeout(() => process.exit(1), times.drainMs + 2 * FINISH_WITHIN_MS).unref()
    shutDown(server, service, times, patience.signal).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', () => {
    // A person at a terminal has no load balancer that must first notice.
    patience.abort()
    stop()
  })
}

function whyNotListening(error: unknown, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') {
    return new FaultsError([`SERVICE_PORT ${port} is in use by another process: choose another port.`])
  }
  if (code !== 'EACCES') return error
  return new FaultsError([`SERVICE_PORT ${port} is not open to this user: choose one of 1024 or more.`])
}

main().catch((error: unknown) => {
  console.error(error instanceof FaultsError ? error.message : error)
  process.exitCode = 1
})
