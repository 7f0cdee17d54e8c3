import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { startService } from './app.js'
import { type Beside, JOURNEYS, signInOn, startBeside } from './beside.js'
import { OTHER_RELEASES } from './other-release.js'
import { PLACES, type Place } from './places.js'
import { FIRST_MOMENT } from './release-set.js'
import { dumpTables, migrateFurther } from './tables.js'

describe.each(Object.keys(OTHER_RELEASES))('this release beside one with %s', (other) => {
  let place: Place
  let beside: Beside
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: FIRST_MOMENT })
    const clock = { move: (ms: number) => void vi.setSystemTime(Date.now() + ms) }
    place = await PLACES.own.open()
    beside = await startBeside(other, { place, clock, service: await startService(place) })
  })
  afterAll(async () => {
    await beside.close()
    await beside.service.close()
    await place.close()
    vi.useRealTimers()
  })

  for (const [title, journey] of Object.entries(JOURNEYS)) it(title, () => journey(beside))
})

describe('a service whose database a later release has migrated', () => {
  for (const name of ['own', 'postgres'] as const) {
    const { missing, open } = PLACES[name]
    it.skipIf(missing)(`goes on signing users in, and starts again, in the place ${name}`, async () => {
      const clock = stopClock()
      clock.set(FIRST_MOMENT)
      const place = await open()
      onTestFinished(() => place.close())
      const before = await startService(place)
      await signInOn(place, before)
      // One process at a time uses a folder.
      if ('dataDir' in place.database) await before.close()
      await migrateFurther(place.database)
      clock.move(2 * MINUTE)
      if ('databaseUrl' in place.database) {
        await signInOn(place, before)
        await before.close()
      }
      clock.move(2 * MINUTE)
      const after = await startService(place)
      await signInOn(place, after)
      await after.operator('ann').changeSettings('default', { set: { backupCodes: 12 } })
      await after.close()
      const [application] = (await dumpTables(place.database)).rows.application ?? []
      expect(JSON.parse(String(application?.settings))).toEqual({ backupCodes: 12, later: 'later' })
    })
  }
})
