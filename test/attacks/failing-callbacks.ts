import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import { HOUR, MINUTE, stopTimers } from '../kit/clock.js'
import { browserAgent, type Host, jsonAgent, type TestUser } from '../kit/host.js'
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

/** Requests every route; none may hang. */
async function requestAll({ app, standIn }: Host, name: string) {
  const browser = browserAgent(app)
  const statuses = [(await login(browser, name).type('form')).status]
  for (const [method, path, body] of ROUTES) {
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

/** Collects the rejections that nothing handles: Node ends a process at the first one. */
export function unhandledRejections() {
  const found: unknown[] = []
  const listen = (reason: unknown) => void found.push(reason)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))
  return async () => {
    // Node reports them once the microtasks are done.
    await new Promise((resolve) => setImmediate(resolve))
    return found
  }
}

function failingCallback(callback: string, failure: string): Callback {
  if (hangs(failure)) stopTimers()
  return () => FAILURES[failure]?.(CALLBACKS[callback]?.wish)
}

/** The process lives, and nobody is signed in, when a callback of the host fails. */
export function survivesFailingCallbacks(version: string): void {
  describe.each(Object.keys(CALLBACKS))(`with ${version}, the callback %s of the host (R99)`, (callback) => {
    it.each(Object.keys(FAILURES))('that %s ends no process and signs nobody in', async (failure) => {
      const unhandled = unhandledRejections()
      const options: Partial<MfaOptions<TestUser>> = {
        urls: { publicUrl: PUBLIC_URL },
        notices: { onNotice: () => {} },
        ...optionsWith(callback, failingCallback(callback, failure)),
      }
      const { statuses, status } = await requestAll(trustingHost({ options }), 'alice')
      expect(statuses).toHaveLength(ROUTES.length + 1)
      expect(status).not.toBe(200)
      expect(await unhandled()).toEqual([])
    })
  })

  const AT_THE_LINK = ['location', 'locale', 'render', 'onEvent', 'onCompromise', 'logger']
  describe.each(AT_THE_LINK)(
    `with ${version}, at a "this wasn't me" link the callback %s (R99)`,
    (callback) => {
      it.each(Object.keys(FAILURES))(
        'that %s keeps no session alive and signs nobody in',
        async (failure) => {
          const unhandled = unhandledRejections()
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
          expect(await unhandled()).toEqual([])
        },
      )
    },
  )

  describe.each(Object.keys(RECOVERY_CALLBACKS))(
    `with ${version}, the callback recovery.%s of the host (R99, R94)`,
    (callback) => {
      it.each(Object.keys(FAILURES))(
        'that %s recovers no account early and signs nobody in',
        async (failure) => {
          vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
          onTestFinished(() => void vi.useRealTimers())
          const unhandled = unhandledRejections()
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
          expect(await unhandled()).toEqual([])
        },
      )
    },
  )
}
