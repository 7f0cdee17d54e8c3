const { createService, developmentSecret } = require('@countersign/service')
const { createMfa } = require('countersign')

const APP_NAME = 'Password Shop'

/** Starts the MFA service in this process. The package is an ES module; Node 20.19 and later load it with `require`. */
async function openMfa() {
  const dataDir = process.env.DATA_DIR ?? '.data'
  const service = await createService({
    databaseUrl: process.env.DATABASE_URL,
    dataDir,
    secret: process.env.SERVICE_SECRET ?? developmentSecret(dataDir),
    applicationName: APP_NAME,
    delivery: process.env.SERVICE_DELIVERY ?? 'inbox',
  })
  const mfa = createMfa({
    service: service.mfa,
    appName: APP_NAME,
    factors: (user) => [{ method: 'email', email: user.email }],
  })
  return { mfa, service }
}

module.exports = { openMfa }
