import express from 'express'
import { describe, expect, it, vi } from 'vitest'
import { type MfaOptions, requireMfa } from '../../src/index.js'
import { HOUR, MINUTE } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, type Host, host, jsonAgent, signInFully, type TestUser } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { linkIn, noticingHost, PUBLIC_URL, passBothFactors } from '../notices/kit.js'
import { recoveringHost, signInBy } from '../recovery/kit.js'
import { trustingHost } from '../trust/kit.js'
import {
  CALLBACKS,
  type Callback,
  FAILURES,
  hangs,
  optionsWith,
  RECOVERY_CALLBACKS,
} from './host-callbacks.js'

const ROUTES = [
  ['get', '/mfa'],
  ['get', '/mfa/verify?factor=app'],
  ['post', '/mfa/challenge', { factor: 'sms' }],
  ['post', '/mfa/verify', { code: '000000', factor: 'app', trust: 'true' }],
  ['get', '/mfa/enroll-app'],
  ['post', '/mfa/enroll-app', {}],
  ['post', '/mfa/enroll-app/confirm', { code: '123456' }],
  ['get', '/mfa/backup'],
  ['post', '/mfa/backup', {}],
  ['get', '/mfa/devices'],
  ['post', '/mfa/devices/revoke-all', {}],
  ['post', '/mfa/language', { language: 'de' }],
  ['get', '/mfa/not-me?token=guessed'],
  ['post', '/mfa/not-me', { token: 'guessed' }],
  ['get', '/mfa/recover'],
  ['post', '/mfa/recover', {}],
  ['get', '/secret'],
  ['post', '/transfer', {}],
] as const

/**
 * Requests every third route, beginning with the `nth`; none may hang. So each callback meets each route, and each failure too,
 * without all three multiplied.
 */
async function requestThird({ app, standIn }: Host, name: string, nth: number) {
  const browser = browserAgent(app)
  const statuses = [(await login(browser, name).type('form')).status]
  for (const [method, path, body] of ROUTES.filter((_, index) => index % 3 === nth % 3)) {
    const sent = method === 'get' ? browser.get(path) : browser.post(path).type('form').send(body)
    statuses.push((await sent).status)
  }
  const { status } = await browser.get('/secret').set('Accept', 'application/json')
  // The correct code, so that the work of the host after a second factor fails too.
  standIn.setApp('alice@example.com', '424242')
  await verify(browser, '424242', { factor: 'app', trust: 'true' }).type('form')
  await browser.post('/mfa/backup').type('form').send({})
  await browser.post('/mfa/enroll-app').type('form').send({})
  await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: '123456' })
  return { statuses, status }
}

/**
 * Runs a check for each failure. None may leave a rejection that nothing handles: Node ends a process at the first one. Each
 * begins with timers that run.
 */
export function everyFailure(failures: readonly string[], check: (failure: string) => Promise<void>) {
  return everyCase(failures, async (failure) => {
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', listen)
    try {
      await check(failure)
      // Node reports them once the microtasks are done.
      await new Promise((resolve) => setImmediate(resolve))
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', listen)
      vi.useRealTimers()
    }
  })
}

function failingCallback(callback: string, failure: string): Callback {
  if (hangs(failure)) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => FAILURES[failure]?.(CALLBACKS[callback]?.wish)
}

const ALL_FAILURES = Object.keys(FAILURES)

/** Every failure for every callback. */
export const everyPair = () => ALL_FAILURES

/** One failure for each callback, each in its turn. */
export const inTurn = (nth: number) => ALL_FAILURES.slice(nth % ALL_FAILURES.length).slice(0, 1)

/** The process lives, and nobody is signed in, when a callback of the host fails. */
export function survivesFailingCallbacks(
  version: string,
  failuresOf: (nth: number) => readonly string[],
): void {
  describe(`with ${version}, a failing callback of the host (R99)`, () => {
    it.each(Object.keys(CALLBACKS).map((name, nth) => [name, nth] as const))(
      'ends no process and signs nobody in: %s',
      (callback, nth) =>
        everyFailure(failuresOf(nth), async (failure) => {
          const third = nth + ALL_FAILURES.indexOf(failure)
          const options: Partial<MfaOptions<TestUser>> = {
            urls: { publicUrl: PUBLIC_URL },
            notices: { onNotice: () => {} },
            ...optionsWith(callback, failingCallback(callback, failure)),
          }
          const { statuses, status } = await requestThird(trustingHost({ options }), 'alice', third)
          expect(statuses).toHaveLength(ROUTES.length / 3 + 1)
          expect(status).not.toBe(200)
        }),
    )

    it('opens no approval, and no other language than the user has: languages.ofUser (R146)', () =>
      everyFailure(failuresOf(Object.keys(CALLBACKS).indexOf('ofUser')), failAtAnApproval))

    const atTheLink = ['location', 'locale', 'render', 'onEvent', 'onCompromise', 'logger']
    it.each(atTheLink.map((name, nth) => [name, nth] as const))(
      'keeps no session alive and signs nobody in at a "this wasn\'t me" link: %s',
      (callback, nth) => everyFailure(failuresOf(nth), (failure) => failAtTheLink(callback, failure)),
    )

    it.each(Object.keys(RECOVERY_CALLBACKS).map((name, nth) => [name, nth] as const))(
      'recovers no account early and signs nobody in: recovery.%s (R94)',
      (callback, nth) => everyFailure(failuresOf(nth), (failure) => failDuringRecovery(callback, failure)),
    )
  })
}

async function failAtAnApproval(failure: string) {
  let call: Callback = () => 'en'
  const made = host({
    options: optionsWith('ofUser', (...args) => call(...args)),
    routes: (app) => {
      app.post('/pay', express.json(), requireMfa({ bind: ['amount'] }), (_req, res) => void res.json({}))
    },
  })
  const agent = await signInFully(made, 'alice')
  const sent = made.standIn.calls.length
  call = failingCallback('ofUser', failure)
  const pay = () => agent.post('/pay').send({ amount: '5 EUR' })
  const { status, body } = await pay()
  // Without a language of the user, it is the first one that the app offers.
  if (failure === 'returns nothing') expect([status, body.code]).toEqual([401, 'step_up_required'])
  else expect([status, body.approval]).toEqual([500, undefined])
  expect(made.standIn.calls.slice(sent)).toEqual([])
  call = () => 'en'
  expect((await pay().expect(401)).body.code).toBe('step_up_required')
}

async function failAtTheLink(callback: string, failure: string) {
  const works: Record<string, Callback> = {
    render: () => '<!doctype html>',
    location: () => 'Lyon',
    locale: () => 'en',
  }
  let call: Callback = works[callback] ?? (() => {})
  const made = noticingHost({ options: optionsWith(callback, (...args) => call(...args)) })
  const owner = await passBothFactors(made, 'bob', { trust: true })
  const link = linkIn(made.newest('device_trusted'))
  const token = new URL(link, PUBLIC_URL).searchParams.get('token')

  call = failingCallback(callback, failure)
  const browser = browserAgent(made.app)
  await browser.get(link)
  await browser.post('/mfa/not-me').type('form').send({ token })
  await browser.get('/mfa/not-me?done')
  call = works[callback] ?? (() => {})
  for (const agent of [owner, browser, jsonAgent(made.app)]) {
    expect((await agent.get('/secret').set('Accept', 'application/json')).status).toBe(401)
  }
}

async function failDuringRecovery(callback: string, failure: string) {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  const call = () => FAILURES[failure]?.(RECOVERY_CALLBACKS[callback])
  const made = recoveringHost({
    options: { recovery: { [callback]: call } as object as MfaOptions<TestUser>['recovery'] },
  })

  const { agent } = await signInBy(made, 'alice')
  await agent.post('/mfa/recover').send({})
  vi.setSystemTime(Date.now() + 24 * HOUR - MINUTE)
  await made.sendDueNotices().catch(() => {})
  const early = await signInBy(made, 'alice')
  await early.agent.post('/mfa/recover/complete').send({})
  expect(made.told('recovery_completed')).toEqual([])

  vi.setSystemTime(Date.now() + HOUR)
  const late = await signInBy(made, 'alice')
  await late.agent.post('/mfa/recover/complete').send({})
  const passwordOnly = jsonAgent(made.app)
  await login(passwordOnly, 'alice').expect(200)
  await passwordOnly.get('/secret').expect(401)
}
