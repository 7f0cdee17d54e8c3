import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { hasFirefox, openFirefox } from '../../../test/kit/firefox.js'
import { isLong } from '../../../test/kit/long.js'
import { stopClock } from '../kit.js'
import { consoleInEveryState, faultsOf, type State } from './every-state.js'

/** The kind of page of a state: `keys-of-viewer` is one of `keys`. */
const kindOf = ({ name }: State) => name.split('-')[0]

/** The states that are opened: in `npm run test:long` all, and otherwise the first of each kind of page. */
const shownOf = (states: readonly State[]) =>
  isLong
    ? states
    : states.filter((state, nth) => states.findIndex((first) => kindOf(first) === kindOf(state)) === nth)

describe.skipIf(!hasFirefox)('the console in Firefox', () => {
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
  it('fits every screen, leads on and offers no choice of one, on every kind of page', () =>
    check(shownOf(every.states).filter(({ press }) => press === undefined)))

  it.runIf(isLong)('does so after a form, too', () =>
    check(shownOf(every.states).filter(({ press }) => press !== undefined)),
  )
})
