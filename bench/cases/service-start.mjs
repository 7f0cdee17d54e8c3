import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { figure } from '../kit/comparison.mjs'
import { startPostgres } from '../kit/postgres.mjs'
import { processorTimeUs } from '../kit/processor-time.mjs'
import { startService } from '../kit/service.mjs'
import { median } from '../kit/statistics.mjs'

export const title = 'The service: from the start of the process until it listens'
export const meaning = `The processor time until then changes less with what else the machine does.`

const NEW_POSTGRES = 'new PostgreSQL database'
/** Milliseconds until a service with a new PostgreSQL listens. */
const MOST_MS = 1_000

export async function run(bench) {
  const measured = {}
  const time = async (name, options) => {
    const service = await startService({
      node: bench.node,
      ...options,
      env: { ...options.env, SERVICE_DELIVERY: 'inbox' },
    })
    const processorMs = processorTimeUs(service.pid) / 1000
    await service.stop()
    measured[name] ??= []
    measured[name].push({ readyMs: service.readyMs, processorMs })
  }
  for (let round = 0; round < (bench.isQuick ? 2 : 5); round++) {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
    await time('new PGlite folder', { env: { DATA_DIR: folder } })
    await time('used PGlite folder', { env: { DATA_DIR: folder } })
    rmSync(folder, { recursive: true, force: true })
    const postgres = await startPostgres()
    await time(NEW_POSTGRES, { postgres })
    await time('used PostgreSQL database', { postgres })
    await postgres.stop()
  }
  return Object.entries(measured).map(([name, times]) =>
    figure(`service: start on a ${name}`, Math.round(median(times.map(({ readyMs }) => readyMs))), 'ms', {
      most: name === NEW_POSTGRES ? MOST_MS : undefined,
      note: `${Math.round(median(times.map(({ processorMs }) => processorMs)))} ms of processor time`,
    }),
  )
}
