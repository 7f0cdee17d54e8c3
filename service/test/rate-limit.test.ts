import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { apiOver, postForm } from './api-kit.js'
import {
  advance,
  type Bench,
  freshEmail,
  freshPhone,
  freshTenant,
  listen,
  openBench,
  stopClock,
} from './kit.js'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

let server: Awaited<ReturnType<typeof listen>>
beforeEach(async () => {
  server = await listen(apiOver(bench.context, freshTenant(bench).application))
})
afterEach(() => server.close())

const send = (form: Record<string, string>, path = '/v1/mfa') => postForm(server.url + path, form)
const toMidnight = 12 * 3_600

describe('the response to a send', () => {
  test('shows every budget and what is left of it', async () => {
    const { headers } = await send({ User: freshEmail().email, Type: 'EMAIL', ClientAddress: '192.0.2.1' })
    expect(headers.get('ratelimit-policy')).toBe(
      '"account";q=5;w=600, "account-day";q=10;w=86400, "client";q=10;w=3600, "destination";q=5;w=3600, "application";q=10000;w=86400',
    )
    expect(headers.get('ratelimit')).toBe(
      `"account";r=4;t=600, "account-day";r=9;t=86400, "client";r=9;t=3600, "destination";r=4;t=3600, "application";r=9999;t=${toMidnight}`,
    )
  })

  test('shows that nothing is left, with the same wait as Retry-After (R43)', async () => {
    const form = { User: freshEmail().email, Type: 'EMAIL' }
    for (let i = 0; i < 5; i++) {
      const { headers } = await send(form)
      expect(headers.get('ratelimit')).toContain(`"account";r=${4 - i};t=${600 - i * 10}`)
      advance(10)
    }
    const { status, headers, body } = await send(form)
    expect([status, body.code]).toEqual([429, 'limited'])
    expect(headers.get('ratelimit')).toContain('"account";r=0;t=550')
    expect(headers.get('ratelimit')).toContain('"destination";r=0;t=3550')
    expect(headers.get('retry-after')).toBe('3550')
  })

  test('shows for a DUAL code the destination with less left', async () => {
    const { email } = freshEmail()
    const { phone } = freshPhone()
    await send({ User: phone, Type: 'SMS', Account: 'another' })
    const { headers } = await send({ User: `${email}:${phone}`, Type: 'DUAL' })
    expect(headers.get('ratelimit')?.match(/"destination";r=\d/g)).toEqual(['"destination";r=3'])
  })

  test('is the same for backup codes, and has no budgets where nothing is sent', async () => {
    const { email } = freshEmail()
    const backup = await send({ User: email, Type: 'EMAIL' }, '/v1/mfa/backup')
    expect(backup.headers.get('ratelimit')).toContain('"account";r=4;t=600')
    const verify = await send({ User: email, Type: 'EMAIL', Code: '123456' }, '/v1/mfa/verify')
    expect(verify.headers.has('ratelimit')).toBe(false)
  })
})
