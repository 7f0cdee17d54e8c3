import { vi } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { SECOND } from '../kit/clock.js'
import { EMPTY_RECORD, type TestUser } from '../kit/host.js'

type Options = Partial<MfaOptions<TestUser>>

/** A function of the host. */
export type Callback = (...args: never[]) => unknown

/** A callback of the host: the options that call it, and the answer that would help an attacker most. */
interface HostCallback {
  readonly options: (call: Callback) => object
  readonly wish?: unknown
}

/** Every callback in the options, by its name. */
export const CALLBACKS: Readonly<Record<string, HostCallback>> = {
  factors: { options: (call) => ({ factors: call }), wish: [] },
  userId: { options: (call) => ({ userId: call }), wish: 'u-nin' },
  policy: { options: (call) => ({ policy: call }), wish: 'skip' },
  evidence: {
    options: (call) => ({
      login: { evidence: call, issuers: { self: { amr: { swk: 'phishing-resistant' } } } },
    }),
    wish: { issuer: 'self', amr: ['swk', 'user'], authTime: Date.now() / 1000 },
  },
  location: { options: (call) => ({ location: call }), wish: 'Lyon' },
  locale: { options: (call) => ({ languages: { locale: call } }), wish: 'de' },
  remember: {
    options: (call) => ({ languages: { offer: ['en', 'de'], locale: () => 'en', remember: call } }),
  },
  ofUser: { options: (call) => ({ languages: { offer: ['en', 'de'], ofUser: call } }), wish: 'de' },
  accountName: { options: (call) => ({ pages: { accountName: call } }), wish: 'nina' },
  preferred: { options: (call) => ({ pages: { preferred: call } }), wish: 'sms' },
  render: { options: (call) => ({ pages: { render: call } }), wish: '<!doctype html>' },
  canTrust: { options: (call) => ({ trustedDevices: { store: 'memory', canTrust: call } }), wish: true },
  fingerprint: { options: (call) => ({ trustedDevices: { store: 'memory', fingerprint: call } }), wish: '1' },
  onEvent: { options: (call) => ({ onEvent: call }) },
  onNotice: { options: (call) => ({ notices: { onNotice: call } }) },
  onCompromise: { options: (call) => ({ notices: { onCompromise: call } }) },
  onFactorsChanged: { options: (call) => ({ ...EMPTY_RECORD, onFactorsChanged: call }) },
  recordedFactors: {
    options: (call) => ({ ...EMPTY_RECORD, recordedFactors: call }),
    wish: EMPTY_RECORD.recordedFactors(),
  },
  appContact: { options: (call) => ({ appContact: call }), wish: 'nina@example.com' },
  logger: {
    options: (call) => ({
      logger: { warn: call, error: call },
      onEvent: () => Promise.reject(new Error('event')),
    }),
  },
}

/** The callbacks of the option `recovery`, with the answers that would help an attacker most. */
export const RECOVERY_CALLBACKS: Readonly<Record<string, unknown>> = {
  onNotice: undefined,
  onFactorsEnded: undefined,
  contacts: [],
}

/** The options with one callback in its place. */
export function optionsWith(name: string, call: Callback): Options {
  const made: object = CALLBACKS[name]?.options(call) ?? {}
  return made
}

/**
 * The ways in which a callback fails. A callback that hangs lets ten seconds pass, on timers that the test
 * stopped.
 */
export const FAILURES: Readonly<Record<string, (wish: unknown) => unknown>> = {
  throws: () => {
    throw new Error('host')
  },
  rejects: () => Promise.reject(new Error('host')),
  'returns a number': () => 7,
  'returns nothing': () => undefined,
  'never answers': () => hang(() => {}),
  'answers too late': (wish) => new Promise((resolve) => hang(() => resolve(wish))),
  'rejects too late': () => new Promise((_, reject) => hang(() => reject(new Error('host')))),
}

/** Whether a failure needs timers that stand still. */
export const hangs = (failure: string) => failure === 'never answers' || failure.endsWith('too late')

function hang(afterwards: () => void): Promise<never> {
  // The plugin starts its timer when it gets the promise.
  setImmediate(() => void vi.advanceTimersByTimeAsync(10 * SECOND).then(afterwards))
  return new Promise(() => {})
}
