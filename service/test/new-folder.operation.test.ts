import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { emptyDatabase } from '../src/store/empty-database.js'
import { openStore } from '../src/store/open.js'
import { API_KEY } from './kit.js'
import { start, startListening } from './processes.js'

describe('a new data folder', () => {
  const { path: root, remove } = temporaryFolder()
  afterAll(remove)

  test('is created from the empty database that the build prepared for the installed PGlite', async () => {
    const dataDir = join(root, 'prepared')
    expect((await emptyDatabase())?.length).toBeGreaterThan(1_000_000)
    const store = await openStore({ dataDir, keyId: 'k' })
    expect(await store.query('SELECT key_id FROM sealing_key')).toEqual([{ key_id: 'k' }])
    await store.close()
    const again = await openStore({ dataDir, keyId: 'k' })
    expect(await again.query('SELECT key_id FROM sealing_key')).toEqual([{ key_id: 'k' }])
    await again.close()
  })

  test('is created again if a process died while creating it', async () => {
    const dataDir = join(root, 'died')
    const env = { DATA_DIR: dataDir, SERVICE_API_KEY: API_KEY }
    const first = start(env)
    while (!existsSync(join(dataDir, 'database'))) await new Promise((resolve) => setTimeout(resolve, 5))
    first.child.kill('SIGKILL')
    await first.ended
    expect(existsSync(join(dataDir, 'database-unfinished'))).toBe(true)

    const second = await startListening(env)
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    expect(existsSync(join(dataDir, 'database-unfinished'))).toBe(false)
  })

  test('is refused as a copy that was made while a service used the original', async () => {
    const [original, copy] = [join(root, 'original'), join(root, 'copy')]
    const running = await openStore({ dataDir: original })
    cpSync(original, copy, { recursive: true })
    const refused = `The data folder ${copy} was copied while a service was using it`
    await expect(openStore({ dataDir: copy })).rejects.toThrow(refused)
    await running.close()
    // The copy stays what it is.
    await expect(openStore({ dataDir: copy })).rejects.toThrow(refused)
    cpSync(original, join(root, 'good copy'), { recursive: true })
    await (await openStore({ dataDir: join(root, 'good copy') })).close()
  })

  test('is kept and reported by name if its database is damaged but was complete', async () => {
    const dataDir = join(root, 'broken')
    mkdirSync(join(dataDir, 'database'), { recursive: true })
    writeFileSync(join(dataDir, 'database', 'PG_VERSION'), '3\n')
    await expect(openStore({ dataDir, keyId: 'k' })).rejects.toThrow(
      `The embedded database in ${join(dataDir, 'database')} cannot be opened`,
    )
    expect(existsSync(join(dataDir, 'database', 'PG_VERSION'))).toBe(true)
  })
})
