import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Queries } from '../src/store/store.js'
import { apiOver, postForm } from './api-kit.js'
import {
  advance,
  appCode,
  type Bench,
  freshEmail,
  freshPhone,
  freshTenant,
  listen,
  openBench,
  stopClock,
} from './kit.js'

/*
 * Over HTTP, as the calling app sees it: no response reveals whether an account is known. suites/same-work.ts tests that
 * the work is the same too.
 */

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(() => stopClock())
afterEach(() => vi.useRealTimers())

const asked: string[] = []
let post: (path: string, form: Record<string, string>, key?: string) => ReturnType<typeof postForm>
let close: () => Promise<void>
beforeEach(async () => {
  const listening = (queries: Queries): Queries => ({
    query: (text, params) => {
      asked.push(text)
      return queries.query(text, params)
    },
  })
  const { context } = bench
  const store = {
    ...context.store,
    ...listening(context.store),
    transaction: <T>(work: (tx: Queries) => Promise<T>) =>
      context.store.transaction((tx) => work(listening(tx))),
  }
  const server = await listen(apiOver({ ...context, store }, freshTenant(bench).application))
  close = server.close
  post = (path, form, key) =>
    postForm(server.url + path, form, key === undefined ? {} : { authorization: `Bearer ${key}` })
})
afterEach(() => close())

/** An account with an app, backup codes and active codes. After a day its budgets are unused again. */
async function knownAccount(User: string, Type: 'EMAIL' | 'SMS') {
  await post('/v1/mfa', { User, Type })
  const { body } = await post('/v1/mfa/app', { User })
  const Code = appCode(body.secret)
  expect((await post('/v1/mfa/verify', { User, Type: 'APP', Kind: 'CONFIRM', Code })).status).toBe(200)
  expect((await post('/v1/mfa/backup', { User, Type })).status).toBe(200)
  advance(25 * 3_600)
  await post('/v1/mfa/verify', { User, Type: 'APP', Code: '000000' })
}

/** A response, without random values and what counts for the whole application. */
function comparable({ status, headers, body }: Awaited<ReturnType<typeof postForm>>) {
  // The length of the QR image depends on its content.
  const varying = ['date', 'x-request-id', ...('qr' in body ? ['content-length'] : [])]
  const headersShown = Object.fromEntries(
    [...headers]
      .filter(([name]) => !varying.includes(name))
      .map(([name, value]) => [name, value.replace(/("application";r=)\d+/, '$1…')]),
  )
  const random = ['challenge', 'request', 'instance', 'qr', 'secret', 'otpauth_uri']
  const fields = Object.entries(body as object).map(([name, value]) => [
    name,
    random.includes(name) ? typeof value : value,
  ])
  return { status, headers: headersShown, fields: Object.fromEntries(fields) }
}

const CALLS = [
  ['/v1/mfa', 'EMAIL'],
  ['/v1/mfa', 'SMS'],
  ['/v1/mfa', 'CALL'],
  ['/v1/mfa/backup', 'EMAIL'],
  ['/v1/mfa/backup', 'SMS'],
  ['/v1/mfa/app', undefined],
] as const

describe.each(CALLS)('%s with Type %s (R44)', (path, Type) => {
  const isMail = Type === 'EMAIL' || Type === undefined
  const fresh = () => (isMail ? freshEmail().email : freshPhone().phone)
  const form = (User: string) => ({ User, ...(Type && { Type }) })

  test('gives the same response for an account with factors and an unknown account', async () => {
    const known = fresh()
    await knownAccount(known, isMail ? 'EMAIL' : 'SMS')
    const ofKnown = comparable(await post(path, form(known)))
    expect(ofKnown.status).toBe(200)
    expect(comparable(await post(path, form(fresh())))).toEqual(ofKnown)
  })

  test.each(['key_of_nobody_0123456789', ''])(
    'reveals nothing to a caller with the key "%s", and sends the store the same statements for every account',
    async (key) => {
      const known = fresh()
      await knownAccount(known, isMail ? 'EMAIL' : 'SMS')
      const responseTo = async (User: string) => {
        asked.length = 0
        return { ...comparable(await post(path, form(User), key)), steps: [...asked] }
      }
      const ofKnown = await responseTo(known)
      expect(ofKnown).toMatchObject({ status: 401, fields: { code: 'invalid_api_key' } })
      expect(await responseTo(fresh())).toEqual(ofKnown)
      expect(await responseTo('unknown account')).toEqual(ofKnown)
    },
  )
})
