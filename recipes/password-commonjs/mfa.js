const { developmentSecret, startService } = require('@countersign/service')
const { createMfa } = require('countersign')

const appName = 'Password Shop'
const dataDir = process.env.DATA_DIR ?? '.data'

/** The MFA service, in this process. CommonJS cannot await its start here. */
const service = startService({
  databaseUrl: process.env.DATABASE_URL,
  dataDir,
  secret: process.env.SERVICE_SECRET ?? developmentSecret(dataDir),
  applicationName: appName,
  delivery: process.env.SERVICE_DELIVERY ?? 'inbox',
})

const mfa = createMfa({
  service: service.mfa,
  appName,
  factors: (user) => [{ method: 'email', email: user.email }],
})

module.exports = { mfa, service }
