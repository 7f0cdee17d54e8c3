import { readFileLimit } from './process/file-limit.js'

const [argument] = process.argv.slice(2)
// Loading the rest would fail with the name of some file.
const fault =
  argument === undefined
    ? readFileLimit().fault
    : `This program starts the service and takes no arguments (got ${argument}). For commands, run: countersign-service ${argument}`
if (fault === undefined) await start()
else {
  console.error(fault)
  process.exitCode = 1
}

async function start(): Promise<void> {
  const { ConfigurationError } = await import('./process/configuration-error.js')
  const { serve } = await import('./run/serve.js')
  await serve().catch((error: unknown) => {
    console.error(error instanceof ConfigurationError ? error.message : error)
    process.exitCode = 1
  })
}
