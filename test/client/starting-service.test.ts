import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMfa } from '../../src/index.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { signal } from '../kit/signal.js'

describe('a call to a service in this process that is still starting', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** An app whose service starts when it is told so. */
  function startingApp() {
    const start = signal()
    const warnings: string[] = []
    const { client } = createMfa({
      service: { ...mfaTestKit().service, started: () => start.given },
      factors: () => [],
      logger: { warn: (message) => void warnings.push(message), error: () => {} },
      diagnostics: false,
    })
    const ask = async () => client.factorsOf?.({ contact: { kind: 'email', email: 'bob@example.com' } })
    return { ask, start, warnings }
  }

  it('waits for the start, and the log says so', async () => {
    const { ask, start, warnings } = startingApp()
    const answer = ask()
    await vi.advanceTimersByTimeAsync(900)
    expect(warnings).toEqual([])
    await vi.advanceTimersByTimeAsync(25_000)
    expect(warnings).toEqual([
      'countersign: The MFA service in this process is still starting. A request waits for it.',
    ])
    start.give()
    await expect(answer).resolves.toMatchObject({ existing: [] })
    await ask()
    expect(warnings).toHaveLength(1)
  })

  it('fails after 30 seconds with what to do, and counts as an outage', async () => {
    const { ask } = startingApp()
    const failed = expect(ask()).rejects.toMatchObject({
      code: 'ERR_MFA_SERVICE_UNAVAILABLE',
      message: expect.stringContaining('waited for 30 s. Repeat it in a few seconds.'),
      retryAfterSeconds: 5,
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await failed
  })
})
