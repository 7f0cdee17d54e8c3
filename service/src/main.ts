import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readEnvironment } from './environment.js'
import { FaultsError } from './faults.js'
import { jsonLogger } from './log.js'
import { createService } from './service.js'

const STOP_MS = 10_000

async function main(): Promise<void> {
  const { options, port, warnings } = readEnvironment(process.env, { dataDir: '.data' })
  for (const warning of warnings) console.warn(`warning: ${warning}`)
  const made = options.apiKey ? undefined : `mfa_${randomBytes(32).toString('base64url')}`
  const service = await createService({
    ...options,
    ...(made && { apiKey: made }),
    logger: jsonLogger(process.stdout),
  })
  if (made) console.log(`SERVICE_API_KEY is not set. For this run the key is ${made}`)
  const server = createServer(service.api)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  }).catch(async (error: unknown) => {
    await service.close()
    throw error
  })
  console.log(`The MFA service listens on http://localhost:${(server.address() as AddressInfo).port}`)
  if (service.inbox)
    console.log('Messages do not leave this machine: read them at GET /v1/test/inbox?to=… with the API key.')

  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    // Whoever does not finish in time is cut off, so that a stuck connection cannot keep the process.
    setTimeout(() => process.exit(1), STOP_MS).unref()
    server.close(() => {
      service.close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
    server.closeIdleConnections()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

main().catch((error: unknown) => {
  console.error(error instanceof FaultsError ? error.message : error)
  process.exitCode = 1
})
