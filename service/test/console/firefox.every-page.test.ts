import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { hasFirefox, openFirefox } from '../../../test/kit/firefox.js'
import { isLong } from '../../../test/kit/long.js'
import { stopClock } from '../kit.js'
import { consoleInEveryState, faultsOf, type State } from './every-state.js'

describe.skipIf(!hasFirefox || !isLong)('the console in Firefox', () => {
  let every: Awaited<ReturnType<typeof consoleInEveryState>>
  let browser: Browser

  beforeAll(async () => {
    browser = await openFirefox()
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    stopClock()
    every = await consoleInEveryState()
  })
  afterEach(async () => {
    await every?.close()
    vi.useRealTimers()
  })

  /** Checks states one after the other. */
  async function check(states: readonly State[]): Promise<void> {
    const open = every.opener(browser)
    const faults: unknown[] = []
    await everyCase(states, async (state) => {
      const found = await faultsOf(await open(state), state)
      if (found.length > 0) faults.push([state.name, found])
    })
    expect(faults).toEqual([])
  }

  // The rules of axe are about the document and its colors, which Chromium has checked, as it has every state.
  it('fits every screen, leads on and offers no choice of one', () =>
    check(every.states.filter(({ press }) => press === undefined)))

  it('does so after a form, too', () => check(every.states.filter(({ press }) => press !== undefined)))
})
