import { createService } from '../service/dist/index.js'
import { SECRET } from './kit/server.mjs'

// How long a wrong code takes for people the service knows and for people it does not (R90), asked in turn.
const [rounds = 300] = process.argv.slice(2).map(Number)
const service = await createService({ dataDir: 'memory://', secret: SECRET, delivery: 'inbox', logger() {} })
const email = (n) => ({ kind: 'email', email: `person${n}@example.com` })
const kinds = {
  app: { method: 'app', kind: 'code', code: '000000' },
  backup: { method: 'email', kind: 'backup', code: 'AAAABBBBCCCCDDDD' },
}
for (const [name, guess] of Object.entries(kinds)) {
  const times = { known: [], unknown: [] }
  for (let n = 0; n < rounds; n++) {
    const known = { contact: email(n), account: `${name}-known-${n}` }
    if (name === 'app') {
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
      await service.importApp({ ...known, secret })
    } else await service.mfa.sendBackupCodes({ ...known, method: 'email' })
    const unknown = { contact: email(n), account: `${name}-unknown-${n}` }
    for (const [who, person] of n % 2
      ? [
          ['known', known],
          ['unknown', unknown],
        ]
      : [
          ['unknown', unknown],
          ['known', known],
        ]) {
      const began = performance.now()
      await service.mfa.verify({ ...person, ...guess })
      times[who].push(performance.now() - began)
    }
  }
  const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1]
  const [known, unknown] = [middle(times.known), middle(times.unknown)]
  console.log(
    JSON.stringify({
      name,
      knownMs: +known.toFixed(2),
      unknownMs: +unknown.toFixed(2),
      ratio: +(unknown / known).toFixed(2),
    }),
  )
}
await service.close()
