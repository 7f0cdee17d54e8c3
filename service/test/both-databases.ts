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
 * Runs tests over the embedded database and over a real one. All of them share one of each, since starting it costs
 * longer than they do; every test takes an application of its own.
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
