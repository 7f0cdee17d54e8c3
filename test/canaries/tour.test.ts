import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing } from '../../service/test/postgres.js'
import { stopClock } from '../kit/clock.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { canaries, KINDS, SINKS } from './canaries.js'
import { loggingPostgres } from './logging-postgres.js'
import { spans, startTracing, stopTracing } from './spans.js'
import { takeTour } from './tour.js'

beforeAll(startTracing)
afterAll(stopTracing)

describe('what others than the user can read shows no secret and no full contact', () => {
  it('with a service on a data folder, whose files are read as they are', async () => {
    stopClock()
    const folder = temporaryFolder()
    onTestFinished(folder.remove)
    await takeTour({ database: { dataDir: folder.path }, spans })
    for (const entry of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
      if (entry.isFile())
        canaries.search('database', readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    }
    expect(canaries.takeHits()).toEqual([])
    const { searched, noted } = canaries.counts()
    expect(Object.keys(searched).sort()).toEqual(
      SINKS.filter((sink) => sink !== 'database log' && sink !== 'output').sort(),
    )
    for (const kind of KINDS) expect(noted[kind], kind).toBeGreaterThan(0)
  })

  it.skipIf(postgresMissing)('with a PostgreSQL that logs every statement, without parameters', async () => {
    stopClock()
    const postgres = await loggingPostgres()
    onTestFinished(() => postgres.remove())
    await takeTour({ database: { databaseUrl: postgres.url }, spans, databaseLog: postgres.readLog })
    expect(canaries.takeHits()).toEqual([])
    expect(canaries.counts().searched['database log']).toBe(1)
  })
})
