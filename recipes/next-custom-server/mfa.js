import { createService, developmentSecret } from '@countersign/service'
import { createMfa } from 'countersign'

const dataDir = process.env.DATA_DIR ?? '.data'

/** The MFA service, in this process. */
export const service = await createService({
  databaseUrl: process.env.DATABASE_URL,
  dataDir,
  secret: process.env.SERVICE_SECRET ?? developmentSecret(dataDir),
  applicationName: 'Next Shop',
  delivery: process.env.SERVICE_DELIVERY ?? 'inbox',
})

export const mfa = createMfa({
  service: service.mfa,
  appName: 'Next Shop',
  factors: (user) => [{ method: 'email', email: user.email }],
})
