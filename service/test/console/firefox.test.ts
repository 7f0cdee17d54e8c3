import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { hasFirefox, openFirefox } from '../../../test/kit/firefox.js'
import { stopClock } from '../kit.js'
import { consoleInEveryState, faultsOf, openState } from './every-state.js'

describe.skipIf(!hasFirefox)('the console in Firefox', () => {
  let every: Awaited<ReturnType<typeof consoleInEveryState>>
  let browser: Browser

  beforeAll(async () => {
    stopClock()
    every = await consoleInEveryState()
    browser = await openFirefox()
  })
  afterAll(async () => {
    await browser?.close()
    await every?.console.close()
    vi.useRealTimers()
  })

  it('passes axe, fits a narrow phone, leads on and offers no choice of one, whatever it shows', async () => {
    const page = await every.open(browser)
    await everyCase(every.states, async (state) => {
      await openState(page, every.console.url, state)
      expect(await faultsOf(page, state)).toEqual([])
    })
  })
})
