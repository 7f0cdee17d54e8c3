import { describe, expect, it } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { PLACES } from './places.js'
import {
  FIRST_MOMENT,
  type ReleaseSet,
  readReleaseSet,
  thisVersion,
  WIRE,
  writeReleaseSet,
} from './release-set.js'
import { writtenBy } from './write-set.js'

/*
 * `npm run release -- fixtures` sets the variable: then the set of this version is written, and otherwise only compared with what is
 * kept.
 */

const WRITES = process.env.WRITE_FIXTURES === 'true'

/** What is in a set, without values. What depends on how far a process came before it was ended is left out. */
function partsOf({ sessions, tables, answers, webhooks, stored, browsers }: ReleaseSet) {
  const columns = Object.entries(tables.rows).map(([name, [row]]) => [name, Object.keys(row ?? {}).sort()])
  return {
    browsers: parts(browsers),
    sessions: parts(Object.values(sessions)),
    migrations: tables.migrations,
    columns: columns.filter(([name]) => name !== 'lease'),
    answers: answers.map(({ verb, status, body }) => [verb, status, parts(body)]),
    webhooks: webhooks.posted.map(({ body }) => JSON.parse(body).type).sort(),
    stored: parts(stored),
  }
}

/** The names and types in a value, and in JSON in its texts. Names that are ids are the same name. */
function parts(value: unknown): unknown {
  if (typeof value === 'string' && /^[{[]/.test(value)) return parts(JSON.parse(value))
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(parts(one))))].sort()
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, one]) => [/^[a-z][A-Za-z_-]*$/.test(name) ? name : '…', parts(one)])
      .sort(),
  )
}

describe('the set of this release', () => {
  for (const [name, { missing, open }] of Object.entries(PLACES)) {
    it.skipIf(missing)(
      `can be written in the place ${name}, and has the same parts as what is kept`,
      async () => {
        const clock = stopClock()
        clock.set(FIRST_MOMENT)
        const place = await open()
        try {
          const written = await writtenBy(thisVersion(), { place, clock, wire: name === WIRE })
          if (WRITES) writeReleaseSet(thisVersion(), name, written)
          expect(partsOf(written)).toEqual(partsOf(readReleaseSet(thisVersion(), name)))
        } finally {
          await place.close()
        }
      },
    )
  }
})
