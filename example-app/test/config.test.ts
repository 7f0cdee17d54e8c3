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
      stepUpMaxAge: '300s',
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

  it('set limits in their units', () => {
    const config = readConfig({
      MFA_TRIES_PER_CHALLENGE: '3',
      MFA_LOCK_SECONDS: '900',
      MFA_RESEND_WAITS_SECONDS: '20,40',
      MFA_HALF_LOGIN_SECONDS: '120',
    })
    expect(config.limits).toMatchObject({
      attemptsPerChallenge: 3,
      lockDuration: 900_000,
      resendWaits: [20_000, 40_000],
    })
    expect(config.pendingLoginMs).toBe(120_000)
  })

  it('report all faults at once', () => {
    const faulty = { PORT: 'abc', SESSION_SECRET: 'short', MFA_BASE_URL: 'ftp://x', MFA_LOCK_SECONDS: '1' }
    expect(() => readConfig(faulty)).toThrow(ConfigError)
    expect(() => readConfig(faulty)).toThrow(
      /PORT .*\n.*SESSION_SECRET .*\n.*MFA_BASE_URL .*\n.*MFA_LOCK_SECONDS /,
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
