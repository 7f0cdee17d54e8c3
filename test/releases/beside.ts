import assert from 'node:assert/strict'
import type { CountersignService } from '@countersign/service'
import { MemoryStore } from 'express-session'
import { wrong } from '../../service/test/kit.js'
import { MINUTE } from '../kit/clock.js'
import { sessionCookie } from '../kit/cookies.js'
import { jsonAgent, type TestUser, withCookie } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { trustCookieOf } from '../trust/kit.js'
import { recordAnswers } from './answers.js'
import { type App, startApp } from './app.js'
import { OTHER_RELEASES } from './other-release.js'
import type { Place } from './places.js'

/*
 * The actions of users while some of their requests go to this release and some to another one, on the same stores. Each journey throws where
 * the two do not understand each other.
 */

const PHONE = { bob: '+447700900201', tom: '+447700900202', eve: '+447700900203' }

const users = (): Record<string, TestUser> => ({
  ...Object.fromEntries(
    Object.entries(PHONE).map(([name, phone]) => [
      name,
      { id: `u-${name}`, email: `${name}@example.com`, factors: [{ method: 'sms', phone }] },
    ]),
  ),
  nina: { id: 'u-nina', email: 'nina@example.com', factors: [] },
})

export interface Beside {
  readonly service: CountersignService
  readonly clock: { move(ms: number): void }
  /** An app with this release. */
  readonly ours: App
  /** An app with the other one. */
  readonly theirs: App
  close(): Promise<void>
}

/** Starts an app of this release and one of another, on the same sessions, stores and service. */
export async function startBeside(
  other: keyof typeof OTHER_RELEASES,
  { place, ...more }: Pick<Beside, 'service' | 'clock'> & { readonly place: Place },
): Promise<Beside> {
  const sessions = new MemoryStore()
  const ours = await startApp(place, more.service, users(), { sessions })
  const theirs = await startApp(place, more.service, users(), OTHER_RELEASES[other]?.(sessions))
  return {
    ...more,
    ours,
    theirs,
    close: async () => void (await Promise.all([ours.close(), theirs.close()])),
  }
}

const bothWays = ({ ours, theirs }: Beside) =>
  [
    [ours, theirs],
    [theirs, ours],
  ] as const

/** The journeys, as the ends of sentences that begin with "this release beside another". */
export const JOURNEYS = {
  'signs in a user whose requests go to either of them': async (beside) => {
    for (const [first, second] of bothWays(beside)) {
      beside.clock.move(2 * MINUTE)
      const pending = sessionCookie(await login(jsonAgent(first.app), 'bob').expect(200))
      await challenge(withCookie(second.app, pending), 'sms').expect(200)
      await withCookie(first.app, pending).get('/mfa').expect(200)
      const code = await first.codeFor(PHONE.bob)
      await verify(withCookie(first.app, pending), wrong(code)).expect(401)
      const verified = sessionCookie(await verify(withCookie(first.app, pending), code).expect(200))
      for (const { app } of [second, first]) await withCookie(app, verified).get('/secret').expect(200)
      await withCookie(second.app, verified).post('/transfer').expect(200)
    }
  },
  'recognizes a browser that either of them trusted, also after the other has recognized it': async (
    beside,
  ) => {
    for (const [first, second] of bothWays(beside)) {
      beside.clock.move(2 * MINUTE)
      const pending = withCookie(first.app, sessionCookie(await login(jsonAgent(first.app), 'tom')))
      await challenge(pending, 'sms').expect(200)
      const code = await first.codeFor(PHONE.tom)
      let cookie = trustCookieOf(await verify(pending, code, { trust: true }).expect(200))
      for (const { app } of [second, first, second]) {
        const response = await login(jsonAgent(app).set('Cookie', cookie), 'tom').expect(200)
        assert.equal(response.body.mfa.trusted, true)
        cookie = trustCookieOf(response)
        const session = sessionCookie(response)
        for (const one of [first, second]) await withCookie(one.app, session).get('/secret').expect(200)
      }
    }
  },
  'counts wrong codes together': async ({ ours, theirs }) => {
    const pending = sessionCookie(await login(jsonAgent(ours.app), 'eve'))
    await challenge(withCookie(theirs.app, pending), 'sms').expect(200)
    const bad = wrong(await ours.codeFor(PHONE.eve))
    for (const [nth, { app }] of [ours, theirs, ours, theirs, ours].entries()) {
      const { body } = await verify(withCookie(app, pending), bad)
      assert.deepEqual([body.code, body.attemptsLeft], ['invalid_code', 4 - nth])
    }
    for (const { app } of [ours, theirs])
      assert.equal((await verify(withCookie(app, pending), bad)).body.code, 'challenge_exhausted')
  },
  'lets a user without a factor in at both': async (beside) => {
    for (const [first, second] of bothWays(beside)) {
      const cookie = sessionCookie(await login(jsonAgent(first.app), 'nina').expect(200))
      for (const { app } of [second, first]) await withCookie(app, cookie).get('/secret').expect(200)
    }
  },
  'gets the same answers for every verb': async ({ ours, theirs, clock }) => {
    const outcomes = async (app: App) => {
      clock.move(120 * MINUTE)
      const asked = await recordAnswers(app, clock)
      return asked.map(({ verb, status, returned }) => [verb, status, Object(returned).outcome])
    }
    assert.deepEqual(await outcomes(theirs), await outcomes(ours))
  },
} satisfies Readonly<Record<string, (beside: Beside) => Promise<void>>>

/** Signs a user in on a running service. */
export async function signInOn(place: Place, service: CountersignService): Promise<void> {
  const app = await startApp(place, service, users())
  const agent = jsonAgent(app.app)
  await login(agent, 'bob').expect(200)
  await challenge(agent, 'sms').expect(200)
  await verify(agent, await app.codeFor(PHONE.bob)).expect(200)
  await agent.get('/secret').expect(200)
  await app.close()
}
