import { createService } from '../../service/dist/index.js'
import { serve } from '../kit/serve.mjs'
import { SECRET } from '../kit/service.mjs'
import { median } from '../kit/statistics.mjs'

// The service without HTTP: how long a wrong code takes for users that it knows and does not know, asked in turn.
const KINDS = {
  'app code': { method: 'app', kind: 'code', code: '000000' },
  'backup code': { method: 'email', kind: 'backup', code: 'AAAABBBBCCCCDDDD' },
}
let service

const email = (n) => ({ kind: 'email', email: `person${n}@example.com` })

async function setUp(factor, user) {
  if (factor === 'app code') await service.importApp({ ...user, secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' })
  else await service.mfa.sendBackupCodes({ ...user, method: 'email' })
}

async function compare(rounds) {
  const middles = {}
  for (const [factor, guess] of Object.entries(KINDS)) {
    const times = { known: [], unknown: [] }
    for (let n = 0; n < rounds; n++) {
      const users = {
        known: { contact: email(n), account: `${factor}-known-${n}` },
        unknown: { contact: email(n), account: `${factor}-unknown-${n}` },
      }
      await setUp(factor, users.known)
      for (const who of n % 2 ? ['known', 'unknown'] : ['unknown', 'known']) {
        const began = performance.now()
        await service.mfa.verify({ ...users[who], ...guess })
        times[who].push(performance.now() - began)
      }
    }
    middles[factor] = { knownMs: median(times.known), unknownMs: median(times.unknown) }
  }
  return middles
}

serve(
  async () => {
    service = await createService({
      dataDir: 'memory://',
      secret: SECRET,
      delivery: 'inbox',
      logger() {},
    })
    return (_req, res) => res.end()
  },
  { compare },
)
