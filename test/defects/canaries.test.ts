import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing } from '../../service/test/postgres.js'
import { canaries, type Hit, type Kind, type Sink } from '../canaries/canaries.js'
import { loggingPostgres } from '../canaries/logging-postgres.js'
import { spans, startTracing, stopTracing } from '../canaries/spans.js'
import { takeTour } from '../canaries/tour.js'
import { stopClock } from '../kit/clock.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import type { LEAKS } from './defects.js'
import { withDefect } from './with-defect.js'

/*
 * The tour of the canaries is taken while a defect is switched on. Without one, it finds nothing: that is its own test.
 */

beforeAll(startTracing)
afterAll(stopTracing)

/** Where each leak is seen. */
const SEEN: Readonly<Record<Exclude<keyof typeof LEAKS, typeof STATEMENT>, readonly [Sink, Kind]>> = {
  'a line of the log has a code': ['log', 'delivered code'],
  'an error has a full contact': ['error', 'phone number'],
  'what a client consists of shows its API key': ['inspect', 'API key'],
  'a label of a metric has an address': ['metrics', 'email address'],
  'a session keeps the secret of an app in the clear': ['session', 'authenticator secret'],
  'the database keeps codes in the clear': ['database', 'delivered code'],
  'a span has the recipient of a message': ['trace', 'phone number'],
  'a page shows the factors of whoever came first': ['answer to another user', 'masked contact'],
}
const STATEMENT = 'a statement has a contact in its text'

/** The findings of a tour, whether it comes to its end or not. */
async function hitsOf(tour: () => Promise<void>): Promise<Hit[]> {
  stopClock()
  canaries.takeHits()
  await tour().catch(() => {})
  return canaries.takeHits()
}

describe('a secret that shows', () => {
  for (const [name, [sink, kind]] of Object.entries(SEEN) as [keyof typeof SEEN, readonly [Sink, Kind]][]) {
    it(`is seen: ${name}`, async () => {
      const folder = sink === 'database' ? temporaryFolder() : undefined
      if (folder) onTestFinished(folder.remove)
      const database = folder && { database: { dataDir: folder.path } }
      const hits = await hitsOf(() => withDefect(name, () => takeTour({ ...database, spans })))
      expect(hits).toContainEqual(expect.objectContaining({ sink, kind }))
    })
  }

  it.skipIf(postgresMissing)(`is seen: ${STATEMENT}`, async () => {
    const { url: databaseUrl, readLog: databaseLog, remove } = await loggingPostgres()
    onTestFinished(remove)
    const hits = await hitsOf(() =>
      withDefect(STATEMENT, () => takeTour({ database: { databaseUrl }, databaseLog })),
    )
    expect(hits).toContainEqual(expect.objectContaining({ sink: 'database log', kind: 'phone number' }))
  })

  it.skipIf(postgresMissing)(
    'is seen in the parameters of statements, where PostgreSQL logs them',
    async () => {
      const { url: databaseUrl, readLog: databaseLog, remove } = await loggingPostgres({ parameters: true })
      onTestFinished(remove)
      const hits = await hitsOf(() => takeTour({ database: { databaseUrl }, databaseLog }))
      const kinds = new Set(hits.map(({ kind }) => kind))
      // As documented: contacts, and nothing else.
      expect([...kinds].sort()).toEqual(['email address', 'phone number'])
    },
  )
})
