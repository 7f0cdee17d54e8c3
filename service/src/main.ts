import { readFileLimit } from './telemetry/file-limit.js'

// Loading the rest would fail with the name of some file.
const { fault } = readFileLimit()
if (fault === undefined) await start()
else {
  console.error(fault)
  process.exitCode = 1
}

async function start(): Promise<void> {
  const { ConfigurationError } = await import('./telemetry/configuration-error.js')
  const { serve } = await import('./run/serve.js')
  await serve().catch((error: unknown) => {
    console.error(error instanceof ConfigurationError ? error.message : error)
    process.exitCode = 1
  })
}
