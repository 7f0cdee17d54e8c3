import { createMfa } from 'countersign'
import { pool } from './pool.js'
import { recordFactors } from './users.js'

export const mfa = createMfa({
  service: {
    baseUrl: process.env.MFA_BASE_URL,
    apiKey: process.env.MFA_API_KEY,
  },
  appName: 'Postgres Bank',
  factors: ({ email }) => [{ method: 'email', email }],
  // What the service keeps for a user. It decides only while the service is down.
  onFactorsChanged: recordFactors,
  recordedFactors: ({ recordedFactors }) => recordedFactors,
  // The tables `mfa_counters` and `mfa_trust` are created at the first use.
  limits: { store: { postgres: { pool } } },
  trustedDevices: { store: { postgres: { pool } }, fingerprint: (user) => user.passwordVersion },
})
