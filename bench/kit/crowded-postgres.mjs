import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../service/dist/parts.js'
import { LOADING, loadCrowd } from './crowd.mjs'
import { startPostgres } from './postgres.mjs'

/**
 * A PostgreSQL server with the service's tables and this many accounts in them. With `folder`, its data are kept there, so that
 * a later run does not load them again. Other options are those of `startPostgres`.
 */
export async function startCrowdedPostgres(people, options = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'countersign-bench-crowd-'))
  const loading = await startPostgres({ folder, more: LOADING })
  try {
    const store = await openStore({ databaseUrl: loading.url, dataDir: 'unused' })
    await store.close()
    await loadCrowd(loading, people)
  } finally {
    await loading.stop()
  }
  const postgres = await startPostgres({ ...options, folder })
  return {
    ...postgres,
    async stop() {
      await postgres.stop()
      if (!options.folder) rmSync(folder, { recursive: true, force: true })
    },
  }
}
