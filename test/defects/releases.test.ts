import type { CountersignService } from '@countersign/service'
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
 * The set of this version is read, and a release with one field more works beside this one, while a defect is switched on. That both
 * succeed without one is what the tests of releases say.
 */

const set = readReleaseSet(thisVersion(), 'own')
const clock = { move: (ms: number) => void vi.setSystemTime(Date.now() + ms) }

/** A service on the database of the set, for defects of the plugin. */
let service: CountersignService
let place: Place
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: set.at })
  place = await PLACES.own.open()
  service = await startServiceOn(set, place)
})
afterAll(async () => {
  await service.close()
  await place.close()
  vi.useRealTimers()
})

const open = async <Result>(work: (place: Place) => Promise<Result>): Promise<Result> => {
  const own = await PLACES.own.open()
  return work(own).finally(() => own.close())
}

/** Keeps a promise about what was stored, in an app of its own. */
const reading = (promise: keyof typeof STORED) => () =>
  open(async (own) => {
    const app = await startAppOn(set, own, service)
    await STORED[promise](app, set).finally(() => app.close())
  })

/** Goes on a journey between this release and a later one. */
const besideLater = (journey: keyof typeof JOURNEYS) => () =>
  open(async (own) => {
    const beside = await startBeside('one field more', { place: own, service, clock })
    await JOURNEYS[journey](beside).finally(() => beside.close())
  })

const CHECKS: Readonly<Record<keyof typeof INCOMPATIBLE, () => unknown>> = {
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
    open(async (own) => {
      await (await startService(own)).close()
      await migrateFurther(own.database)
      const migrated = await startService(own)
      await signInOn(own, migrated).finally(() => migrated.close())
    }),
  'the secrets of authenticator apps are sealed in another way': () =>
    open(async (own) => {
      const restarted = await startServiceOn(set, own)
      const app = await startAppOn(set, own, restarted)
      await STORED['signs in by an authenticator app, and not by its last code again'](app, set).finally(
        async () => {
          await app.close()
          await restarted.close()
        },
      )
    }),
  'an answer must have a new member': () => readAnswers(set),
  'an answer may have no unknown member': besideLater('gets the same answers for every verb'),
  'webhooks are signed in another way': async () => readWebhooks(set),
}

describe('a release that does not understand what another one stored or sent', () => {
  for (const name of Object.keys(INCOMPATIBLE) as (keyof typeof INCOMPATIBLE)[]) {
    it(`is found: ${name}`, async () => {
      await expect(withDefect(name, async () => CHECKS[name]())).rejects.toThrow()
    })
  }
})
