import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './kit/postgres.mjs'
import { processorMs, startService } from './kit/server.mjs'

// From the start of the process until it listens: on a new and a used PGlite folder, on a new and a used database.
const [rounds = 5] = process.argv.slice(2).map(Number)

async function time(name, env) {
  const service = await startService({ ...env, SERVICE_DELIVERY: 'inbox' })
  const processor = processorMs(service.pid)
  await service.stop()
  console.log(JSON.stringify({ name, readyMs: Math.round(service.readyMs), processorMs: processor }))
}

for (let round = 0; round < rounds; round++) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  await time('PGlite, new folder', { DATA_DIR: folder })
  await time('PGlite, used folder', { DATA_DIR: folder })
  rmSync(folder, { recursive: true, force: true })
  const postgres = await startPostgres()
  await time('PostgreSQL, new database', { DATABASE_URL: postgres.url })
  await time('PostgreSQL, used database', { DATABASE_URL: postgres.url })
  await postgres.stop()
}
