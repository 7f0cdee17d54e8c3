import { readdirSync, readFileSync } from 'node:fs'
import { hostname, tmpdir, userInfo } from 'node:os'
import type { CountersignService } from '@countersign/service'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stopClock } from '../kit/clock.js'
import { ALL_VERBS } from './answers.js'
import type { App } from './app.js'
import { PLACES, type Place } from './places.js'
import { readAnswers, readWebhooks, STORED, startAppOn, startServiceOn } from './read-set.js'
import { fileOf, readReleaseSet, thisVersion, versions, WIRE } from './release-set.js'
import { migrationsOfThisRelease } from './tables.js'

const places = Object.entries(PLACES)

describe.each(versions())('after release %s, a later release', (version) => {
  describe.each(places)('in the place %s', (name, { missing, open }) => {
    if (missing) return it.skip(missing, () => {})

    const set = readReleaseSet(version, name)
    let place: Place
    let service: CountersignService
    let app: App
    beforeAll(async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: set.at })
      place = await open()
      service = await startServiceOn(set, place)
      app = await startAppOn(set, place, service)
    })
    afterAll(async () => {
      await app.close()
      await service.close()
      await place.close()
      vi.useRealTimers()
    })

    for (const [promise, check] of Object.entries(STORED)) it(promise, () => check(app, set))
  })

  it('understands the answers of its service', () => readAnswers(readReleaseSet(version, WIRE)))

  it('accepts its webhooks', () => {
    const set = readReleaseSet(version, WIRE)
    stopClock().set(set.at)
    readWebhooks(set)
  })

  it('still has its migrations, unchanged', () => {
    for (const [name] of places) {
      expect(migrationsOfThisRelease()).toMatchObject(readReleaseSet(version, name).tables.migrations)
    }
  })
})

describe('the set of a release', () => {
  it('exists for the version of this tree, with an answer of every verb', () => {
    expect(versions()).toContain(thisVersion())
    const { answers } = readReleaseSet(thisVersion(), WIRE)
    expect([...new Set(answers.map(({ verb }) => verb))].sort()).toEqual([...ALL_VERBS].sort())
  })

  it('is small, and names no machine, folder or user of whoever wrote it', () => {
    for (const version of versions()) {
      for (const [name] of places) {
        const text = readFileSync(fileOf(version, name), 'utf8')
        expect(text.length).toBeLessThan(100_000)
        for (const own of [`${hostname()}.`, tmpdir(), process.cwd(), '/home/', userInfo().homedir])
          expect(text.includes(own), own).toBe(false)
      }
      expect(readdirSync(new URL(`${version}/`, import.meta.url)).sort()).toEqual(
        places.map(([name]) => `${name}.json`).sort(),
      )
    }
  })
})
