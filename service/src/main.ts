import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { readEnvironment } from './environment.js'
import { FaultsError } from './faults.js'
import { apiServer } from './http/server.js'
import { jsonLogger } from './log.js'
import { createService } from './service.js'
import { stopper } from './shutdown.js'

async function main(): Promise<void> {
  const { options, port, drainSeconds, warnings } = readEnvironment(process.env, { dataDir: '.data' })
  for (const warning of warnings) console.warn(`warning: ${warning}`)
  const made = options.apiKey ? undefined : `mfa_${randomBytes(32).toString('base64url')}`
  const service = await createService({
    ...options,
    ...(made && { apiKey: made }),
    logger: jsonLogger(process.stdout),
  })
  if (made) console.log(`SERVICE_API_KEY is not set. For this run the key is ${made}`)
  const server = apiServer(service.api, options.publicUrl)
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

  const stop = stopper(server, service, drainSeconds)
  process.on('SIGTERM', () => stop())
  // A person at a terminal has no load balancer that must first notice.
  process.on('SIGINT', () => stop({ atOnce: true }))
}

main().catch((error: unknown) => {
  console.error(error instanceof FaultsError ? error.message : error)
  process.exitCode = 1
})
