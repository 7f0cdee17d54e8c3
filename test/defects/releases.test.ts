import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startService } from '../releases/app.js'
import { JOURNEYS, signInOn, startBeside } from '../releases/beside.js'
import { PLACES, type Place } from '../releases/places.js'
import { readAnswers, readWebhooks, STORED, startAppOn, startServiceOn } from '../releases/read-set.js'
import { readReleaseSet, thisVersion } from '../releases/release-set.js'
import { migrateFurther } from '../releases/tables.js'
import { INCOMPATIBLE } from './defects.js'
import { withDefect } from './with-defect.js'

/*
 * The set of this version is read, or a release with one field more works beside this one: first without a defect, which succeeds, and
 * then with it switched on.
 */

const set = readReleaseSet(thisVersion(), 'own')
const clock = { move: (ms: number) => void vi.setSystemTime(Date.now() + ms) }

beforeAll(() => vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => vi.useRealTimers())

/** Does `work` in a place of its own, at the time of the set: what was stored counts for minutes only. */
const open = async (work: (place: Place) => Promise<void>): Promise<void> => {
  vi.setSystemTime(set.at)
  const place = await PLACES.own.open()
  await work(place).finally(() => place.close())
}

/** Keeps a promise about what was stored. */
const reading = (promise: keyof typeof STORED) => () =>
  open(async (place) => {
    const service = await startServiceOn(set, place)
    const app = await startAppOn(set, place, service)
    await STORED[promise](app, set).finally(async () => {
      await app.close()
      await service.close()
    })
  })

/** Goes on a journey between this release and a later one. */
const besideLater = (journey: keyof typeof JOURNEYS) => () =>
  open(async (place) => {
    const service = await startService(place)
    const beside = await startBeside('one field more', { place, service, clock })
    await JOURNEYS[journey](beside).finally(async () => {
      await beside.close()
      await service.close()
    })
  })

const CHECKS: Readonly<Record<keyof typeof INCOMPATIBLE, () => Promise<void>>> = {
  'a session may have no unknown member': besideLater('signs in a user whose requests go to either of them'),
  'a session must have a new member': reading('signs in by a code that was sent before'),
  'the text of a session must have a new part': reading('leaves a verified session verified'),
  'a trusted device may have no unknown member': besideLater(
    'recognizes a browser that either of them trusted, also after the other has recognized it',
  ),
  'a trusted device must have a new member': reading(
    'leaves the session of a trusted browser signed in, and recognizes the browser at the next login',
  ),
  'counters may have no unknown name': besideLater('counts wrong codes together'),
  'counters are kept under a new key': reading('goes on counting wrong codes'),
  'a setting of an application may have no unknown name': () =>
    open(async (place) => {
      await (await startService(place)).close()
      await migrateFurther(place.database)
      const migrated = await startService(place)
      await signInOn(place, migrated).finally(() => migrated.close())
    }),
  'the secrets of authenticator apps are sealed in another way': reading(
    'signs in by an authenticator app, and not by its last code again',
  ),
  'an answer must have a new member': () => readAnswers(set),
  'an answer may have no unknown member': besideLater('gets the same answers for every verb'),
  'webhooks are signed in another way': async () => {
    vi.setSystemTime(set.at)
    readWebhooks(set)
  },
}

describe('a release that does not understand what another one stored or sent', () => {
  for (const name of Object.keys(INCOMPATIBLE) as (keyof typeof INCOMPATIBLE)[]) {
    it(`is found: ${name}`, async () => {
      await CHECKS[name]()
      await expect(withDefect(name, CHECKS[name])).rejects.toThrow()
    })
  }
})
