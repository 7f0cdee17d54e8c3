import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../src/config.js'

describe('the environment variables', () => {
  it('are optional in development', () => {
    const config = readConfig({ PORT: '', MFA_BASE_URL: '' })
    expect(config).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      production: false,
      service: { kind: 'embedded' },
      stepUpMaxAge: '5m',
    })
  })

  it('can name another service', () => {
    const { service } = readConfig({
      MFA_BASE_URL: 'https://mfa.example',
      MFA_API_KEY: 'a key',
      MFA_DIALECT: 'countersign',
    })
    expect(service).toMatchObject({
      kind: 'external',
      baseUrl: 'https://mfa.example',
      apiKey: 'a key',
      dialect: 'countersign',
    })
  })

  it('set limits, under the names of the options, and durations with a unit', () => {
    const config = readConfig({
      MFA_ATTEMPTS_PER_CHALLENGE: '3',
      MFA_LOCK_DURATION: '15m',
      MFA_RESEND_WAITS: '20s,40s',
      MFA_PENDING_LIFETIME: '120s',
    })
    expect(config.limits).toMatchObject({
      attemptsPerChallenge: 3,
      lockDuration: '15m',
      resendWaits: ['20s', '40s'],
    })
    expect(config.pendingLifetime).toBe('120s')
  })

  it.each(['1', '14m', '25h', '15', '-15m', '15.5m', '1e3s', 'soon'])(
    'refuse MFA_LOCK_DURATION=%j',
    (text) => {
      expect(() => readConfig({ MFA_LOCK_DURATION: text })).toThrow(
        'MFA_LOCK_DURATION must be a duration from 15m to 24h, like 15m',
      )
    },
  )

  it('report all faults at once', () => {
    const faulty = { PORT: 'abc', SESSION_SECRET: 'short', MFA_BASE_URL: 'ftp://x', MFA_LOCK_DURATION: '1s' }
    expect(() => readConfig(faulty)).toThrow(ConfigError)
    expect(() => readConfig(faulty)).toThrow(
      /PORT .*\n.*SESSION_SECRET .*\n.*MFA_BASE_URL .*\n.*MFA_LOCK_DURATION /,
    )
  })

  it('let the app listen only on this machine unless HOST says otherwise (R100)', () => {
    expect(readConfig({}).host).toBe('127.0.0.1')
    expect(readConfig({ HOST: '0.0.0.0', PORT: '8080' })).toMatchObject({ host: '0.0.0.0', port: 8080 })
  })

  it.each(['Production', 'PRODUCTION', 'prod', ' production'])(
    'cannot contain NODE_ENV=%j, which would count as development (R100)',
    (NODE_ENV) => {
      expect(() => readConfig({ NODE_ENV })).toThrow(/NODE_ENV must be production in lower case/)
    },
  )

  it('must contain secrets and a delivery in production', () => {
    const production = { NODE_ENV: 'production' }
    expect(() => readConfig(production)).toThrow(
      /SESSION_SECRET .*\n.*SERVICE_SECRET .*\n.*SERVICE_DELIVERY /,
    )
    const secret = 'x'.repeat(32)
    const complete = {
      ...production,
      SESSION_SECRET: secret,
      SERVICE_SECRET: secret,
      SERVICE_DELIVERY: 'https://hook.example',
    }
    expect(readConfig(complete).production).toBe(true)
  })
})
