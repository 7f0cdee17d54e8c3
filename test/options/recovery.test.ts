import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { faultsOf, WORKING } from './read.js'

const HOUR = 3_600_000
const onNotice = () => {}
const onFactorsEnded = () => {}
const urls = { publicUrl: 'https://app.example' }
const store = 'memory'

describe('the option recovery', () => {
  it('is off unless given, and waits 24 hours (R94)', () => {
    expect(readOptions(WORKING).recovery).toBeUndefined()
    const recovery = { onNotice, onFactorsEnded, store }
    expect(readOptions({ ...WORKING, urls, recovery }).recovery).toEqual({
      store,
      onNotice: expect.any(Function),
      onFactorsEnded: expect.any(Function),
      waitingPeriodMs: 24 * HOUR,
      selfService: true,
      requireTwoApprovers: false,
    })
  })

  it('waits as long as the host says (R94)', () =>
    everyCase(
      [
        ['1h', HOUR],
        ['7d', 7 * 24 * HOUR],
        [36 * HOUR, 36 * HOUR],
      ],
      ([waitingPeriod, waitingPeriodMs]) => {
        const recovery = { onNotice, onFactorsEnded, store, waitingPeriod }
        expect(readOptions({ ...WORKING, urls, recovery }).recovery?.waitingPeriodMs).toBe(waitingPeriodMs)
      },
    ))

  it('cannot be anything else', () =>
    everyCase(
      [
        [true, 'recovery must be an object'],
        [{}, 'recovery.onNotice must be a function'],
        [{ onNotice }, 'recovery.onFactorsEnded must be a function'],
        [
          { onNotice, onFactorsEnded, waitingPeriod: '59m' },
          'recovery.waitingPeriod must be a time like "24h", from 1h to 7d',
        ],
        [{ onNotice, onFactorsEnded, waitingPeriod: '8d' }, 'recovery.waitingPeriod must be a time'],
        [{ onNotice, onFactorsEnded, store: 'redis' }, 'recovery.store must be "memory"'],
        [{ onNotice, onFactorsEnded, contacts: [] }, 'recovery.contacts must be a function'],
        [{ onNotice, onFactorsEnded, wait: '1d' }, 'recovery.wait is not an option'],
        [
          { onNotice, onFactorsEnded },
          'recovery needs a store: give recovery.store, notices.store or trustedDevices',
        ],
      ],
      ([recovery, fault]) => {
        expect(faultsOf({ urls, trustedDevices: undefined, recovery })).toContainEqual(
          expect.stringContaining(fault),
        )
      },
    ))

  it('needs the public address of the app, and takes the store of notices or trusted devices', () => {
    const recovery = { onNotice, onFactorsEnded }
    expect(faultsOf({ recovery: { ...recovery, store } })).toEqual([
      'recovery adds links to notices: give urls.publicUrl, the https address of the app',
    ])
    expect(faultsOf({ urls, recovery, notices: { store } })).toEqual([])
    expect(faultsOf({ urls, recovery, trustedDevices: { store } })).toEqual([])
    expect(faultsOf({ urls, recovery: { ...recovery, store } })).toEqual([])
  })
})
