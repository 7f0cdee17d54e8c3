import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deriveKeys, openStore } from '../../service/dist/parts.js'
import { figure } from '../kit/comparison.mjs'
import { seed, verifications } from '../kit/people.mjs'
import { SECRET, serviceRequest, startService } from '../kit/service.mjs'
import { medians, sideBySide } from '../kit/side-by-side.mjs'

export const title = 'The service: verifications on PGlite, on disk'
export const meaning = `Each user has signed in before, has a challenge of their own and gives the right code. PGlite keeps its data on disk.`

export async function run(bench) {
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  bench.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const count = 300
  const store = await openStore({ dataDir, keyId: deriveKeys(SECRET).id })
  await seed((text, values) => store.query(text, values), 0, (bench.rounds + bench.warmUpRounds) * count)
  await store.query('ANALYZE')
  await store.close()
  const app = await startService({
    node: bench.node,
    env: { DATA_DIR: dataDir, SERVICE_DELIVERY: 'inbox' },
  })
  bench.defer(app.stop)
  let first = 0
  const side = {
    name: 'service',
    app,
    requests() {
      const bodies = verifications(first, count)
      first += count
      return bodies.map((body) => serviceRequest(app.port, '/v1/mfa/verify', body))
    },
  }
  const { service } = await sideBySide([side], { rounds: bench.rounds, warmUpRounds: bench.warmUpRounds })
  const { perSecond, processorUs, p99Ms } = medians(service)
  return [
    figure('service: verify on PGlite', Math.round(perSecond), '/s', {
      note: `${Math.round(processorUs)} µs, p99 ${Math.round(p99Ms)} ms`,
    }),
  ]
}
