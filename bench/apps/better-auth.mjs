import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { twoFactor } from 'better-auth/plugins'
import express from 'express'
import { serve } from '../kit/serve.mjs'

// The two-factor plugin as better-auth's documentation shows it, on Express, with its store in memory. Its rate limit and
// log are off, and passwords cost nothing, since none of the other apps does more than look a user up.
serve(async ({ url }) => {
  const tables = { user: [], session: [], account: [], verification: [], twoFactor: [] }
  const auth = betterAuth({
    appName: 'Benchmark',
    baseURL: url,
    secret: 'a secret for benchmarks, of thirty-two characters',
    database: memoryAdapter(tables),
    emailAndPassword: {
      enabled: true,
      password: {
        hash: async (password) => password,
        verify: async ({ hash, password }) => hash === password,
      },
    },
    plugins: [twoFactor()],
    rateLimit: { enabled: false },
    logger: { disabled: true },
    telemetry: { enabled: false },
  })
  const app = express()
  app.all('/api/auth/*splat', toNodeHandler(auth))
  return app
})
