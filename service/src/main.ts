import { ConfigurationError } from './configuration-error.js'
import { serve } from './serve.js'

serve().catch((error: unknown) => {
  console.error(error instanceof ConfigurationError ? error.message : error)
  process.exitCode = 1
})
