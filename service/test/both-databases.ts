import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Bench, openBench } from './kit.js'
import { postgresMissing, startPostgres } from './postgres.js'

interface Opened {
  readonly bench: Bench
  stop(): Promise<void>
}

async function onPglite(): Promise<Opened> {
  const bench = await openBench()
  return { bench, stop: () => bench.close() }
}

async function onPostgres(): Promise<Opened> {
  const server = await startPostgres()
  const bench = await openBench({ databaseUrl: server.url })
  return {
    bench,
    async stop() {
      await bench.close()
      await server.stop()
    },
  }
}

const DATABASES = [
  { name: 'PGlite', open: onPglite, missing: undefined },
  { name: 'PostgreSQL', open: onPostgres, missing: postgresMissing },
] as const

/**
 * Runs tests on the embedded database and on PostgreSQL. The tests share one of each, since starting a database takes
 * longer than the tests; every test uses its own application.
 */
export function describeOnBothDatabases(
  tests: (bench: () => Bench, database: 'PGlite' | 'PostgreSQL') => void,
): void {
  describe.each(DATABASES)('on $name', ({ name, open, missing }) => {
    if (missing) return test.skip(missing, () => {})

    let opened: Opened
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.stop())
    tests(() => opened.bench, name)
  })
}
