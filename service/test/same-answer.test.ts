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
 * Over HTTP, as the app that asks sees it: nothing in an answer tells whether the service has ever heard of a person. That
 * the work is the same, too, is in suites/same-work.ts.
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
  const { core } = bench
  const store = {
    ...core.store,
    ...listening(core.store),
    transaction: <T>(work: (tx: Queries) => Promise<T>) =>
      core.store.transaction((tx) => work(listening(tx))),
  }
  const server = await listen(apiOver({ ...core, store }, freshTenant(bench).application))
  close = server.close
  post = (path, form, key) =>
    postForm(server.url + path, form, key === undefined ? {} : { authorization: `Bearer ${key}` })
})
afterEach(() => close())

/** Somebody with an app, backup codes and codes under way. A day later no budget remembers it. */
async function somebodyKnown(User: string, Type: 'EMAIL' | 'SMS') {
  await post('/v1/mfa', { User, Type })
  const { body } = await post('/v1/mfa/app', { User })
  const Code = appCode(body.secret)
  expect((await post('/v1/mfa/verify', { User, Type: 'APP', Kind: 'CONFIRM', Code })).status).toBe(200)
  expect((await post('/v1/mfa/backup', { User, Type })).status).toBe(200)
  advance(25 * 3_600)
  await post('/v1/mfa/verify', { User, Type: 'APP', Code: '000000' })
}

/** What an answer says, without what is drawn by lot or counts for the application as a whole. */
function said({ status, headers, body }: Awaited<ReturnType<typeof postForm>>) {
  // A picture is as long as what it shows makes it.
  const varying = ['date', 'x-request-id', ...('qr' in body ? ['content-length'] : [])]
  const told = Object.fromEntries(
    [...headers]
      .filter(([name]) => !varying.includes(name))
      .map(([name, value]) => [name, value.replace(/("application";r=)\d+/, '$1…')]),
  )
  const random = ['challenge', 'request', 'instance', 'qr', 'secret', 'otpauth_uri']
  const fields = Object.entries(body as object).map(([name, value]) => [
    name,
    random.includes(name) ? typeof value : value,
  ])
  return { status, told, fields: Object.fromEntries(fields) }
}

const CALLS = [
  ['/v1/mfa', 'EMAIL'],
  ['/v1/mfa', 'SMS'],
  ['/v1/mfa', 'CALL'],
  ['/v1/mfa/backup', 'EMAIL'],
  ['/v1/mfa/backup', 'SMS'],
  ['/v1/mfa/app', undefined],
] as const

describe.each(CALLS)('R44 %s with Type %s', (path, Type) => {
  const isMail = Type === 'EMAIL' || Type === undefined
  const fresh = () => (isMail ? freshEmail().email : freshPhone().phone)
  const form = (User: string) => ({ User, ...(Type && { Type }) })

  test('says the same of somebody with factors and of somebody it never heard of', async () => {
    const known = fresh()
    await somebodyKnown(known, isMail ? 'EMAIL' : 'SMS')
    const ofKnown = said(await post(path, form(known)))
    expect(ofKnown.status).toBe(200)
    expect(said(await post(path, form(fresh())))).toEqual(ofKnown)
  })

  test.each(['key_of_nobody_0123456789', ''])(
    'tells a caller with the key "%s" nothing, and asks the store the same for everybody',
    async (key) => {
      const known = fresh()
      await somebodyKnown(known, isMail ? 'EMAIL' : 'SMS')
      const told = async (User: string) => {
        asked.length = 0
        return { ...said(await post(path, form(User), key)), steps: [...asked] }
      }
      const ofKnown = await told(known)
      expect(ofKnown).toMatchObject({ status: 401, fields: { code: 'invalid_api_key' } })
      expect(await told(fresh())).toEqual(ofKnown)
      expect(await told('nobody at all')).toEqual(ofKnown)
    },
  )
})
