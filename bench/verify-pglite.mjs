import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keysFrom } from '../service/dist/secrets/keys.js'
import { openStore } from '../service/dist/store/open.js'
import { load } from './kit/load.mjs'
import { seed, verifications } from './kit/people.mjs'
import { SECRET, startService } from './kit/server.mjs'

// How many right codes a second the service verifies on PGlite, on disk, over HTTP.
const [rounds = 3, requests = 5_000] = process.argv.slice(2).map(Number)

const dataDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
const store = await openStore({ dataDir, keyId: keysFrom(SECRET).id })
await seed((text, values) => store.query(text, values), 0, (rounds + 1) * requests)
await store.query('ANALYZE')
await store.close()
const service = await startService({ DATA_DIR: dataDir, SERVICE_DELIVERY: 'inbox' })
try {
  for (let round = -1; round < rounds; round++) {
    const bodies = verifications((round + 1) * requests, requests)
    const stored = await load({ path: '/v1/mfa/verify', bodies, url: service.url, pids: [service.pid] })
    if (round >= 0) console.log(JSON.stringify({ round, ...stored }))
  }
} finally {
  await service.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
