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

/** The contents of a set, without values. Rows that depend on how far a process came before it was ended are left out. */
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

/** The names and types in a value, and in the texts that are kept. Names that differ only in ids are the same name. */
function parts(value: unknown): unknown {
  if (typeof value === 'string') return partsOfText(value)
  if (Array.isArray(value)) return distinct(value)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  const members = new Map<string, unknown[]>()
  for (const [name, one] of Object.entries(value)) {
    const common = withoutIds(name)
    members.set(common, [...(members.get(common) ?? []), one])
  }
  return Object.fromEntries(
    [...members].map(([name, all]) => [name, all.length > 1 ? distinct(all) : parts(all[0])]).sort(),
  )
}

const distinct = (values: readonly unknown[]) =>
  [...new Set(values.map((one) => JSON.stringify(parts(one))))].sort()

/** JSON, a session record such as `@/mfa 2v <transaction> …`, an item such as `<expires at> <value>`, or any other text. */
function partsOfText(text: string): unknown {
  if (/^[{[]/.test(text)) return parts(JSON.parse(text))
  const [, stage, fields] = /^((?:@\S+ )?\d[a-z]) (.+)$/.exec(text) ?? []
  if (fields !== undefined) return `${stage} with ${fields.split(' ').length} fields`
  const [, value] = /^\d{13} (.+)$/s.exec(text) ?? []
  return value === undefined ? 'string' : ['time', partsOfText(value)]
}

/** `mfa:{u-amy}:60a47eb6-…` as `mfa:{…}:…`, and `attempts 870a7993-…` as `attempts …`. */
function withoutIds(name: string): string {
  // A random id of 16 bytes can look like a name, and no name is as long.
  const isName = (word: string) => word.length < 22 && /^(?!u-)[a-z]+([A-Z_-][a-z\d]+)*$/.test(word)
  return name.replace(/[^\s:{}.]+/g, (word) => (isName(word) ? word : '…'))
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
