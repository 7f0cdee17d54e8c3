import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { advance, appCode, freshEmail, stopClock } from '../kit.js'
import {
  findUser,
  openConsole,
  post,
  read,
  type SignedIn,
  type TestConsole,
  textOf,
  typeCode,
  typePassword,
} from './kit.js'

const CONSENTS = '/console/approvals'

describe('the console with four eyes', () => {
  let console: TestConsole
  let [asker, other, viewer]: SignedIn[] = []
  beforeAll(async () => {
    stopClock()
    console = await openConsole({ fourEyes: true })
    asker = await console.signUp('support')
    other = await console.signUp('support')
    viewer = await console.signUp('viewer')
  })
  afterAll(async () => {
    vi.useRealTimers()
    await console.service.close()
  })

  const signedIn = (person: SignedIn | undefined) => {
    if (!person) throw new Error('Nobody signed in.')
    return person
  }
  /** A user with an authenticator app, and the path of their page. */
  async function freshUser() {
    const contact = freshEmail()
    const app = await console.service.mfa.enrollApp({ contact })
    const secret = app.outcome === 'prepared' ? (app.secret ?? '') : ''
    await console.service.mfa.verify({ method: 'app', kind: 'confirm', code: appCode(secret), contact })
    return { user: contact.email, path: await findUser(signedIn(asker).browser, contact.email) }
  }
  const disabled = async ({ user }: { readonly user: string }) => {
    const reference = { application: 'default', mode: 'live', user, isAccount: false } as const
    const { factors } = await console.service.operator('test').showUser(reference)
    return factors.filter(({ disabled }) => disabled === 'by an operator').length
  }
  /** The fields of the newest request. */
  const newest = async () => {
    const { application, id } = (await console.service.operator('test').consents.list()).at(-1) ?? {}
    return { application: application ?? '', id: id ?? '' }
  }
  /** Another session of the same operator. */
  async function secondSession({ email, secret }: SignedIn) {
    advance(60)
    const browser = console.open()
    await typePassword(browser, email).expect(303)
    await typeCode({ browser, email, secret }).expect(303)
    return browser
  }
  async function verifyAgain(person: SignedIn) {
    advance(60)
    // A page says only that the operator is signed in, unless a step-up was begun.
    await typeCode(person).set('Accept', 'application/json').expect(200)
  }

  test('disables a factor when another operator consents, and says so to both', async () => {
    const [first, second] = [signedIn(asker), signedIn(other)]
    const user = await freshUser()
    await verifyAgain(first)
    const asked = await post(first.browser, `${user.path}/disable`, { factor: 'app' }).expect(200)
    expect(textOf(asked.text)).toContain('Nothing is changed yet')
    expect(await disabled(user)).toBe(0)
    expect(await read(second.browser, '/console')).toMatch(/consents \d+ requests? waits? for your consent/)
    expect(await read(first.browser, '/console')).not.toContain('for your consent')
    const own = await read(first.browser, CONSENTS)
    expect(own).toContain(`Disable a factor: APP`)
    expect(own).toContain(second.email)
    expect(own).toContain('Withdraw')
    expect(own).not.toContain('Consent ')
    expect(own).not.toContain(user.user)
    await verifyAgain(second)
    const request = await newest()
    expect(await read(second.browser, CONSENTS)).toMatch(/Consent .*Refuse/)
    const given = await post(second.browser, `${CONSENTS}/approve`, request).expect(200)
    expect(textOf(given.text)).toContain('Consent given. The change is made.')
    expect(await disabled(user)).toBe(1)
    await post(second.browser, `${CONSENTS}/approve`, request).expect(422)
  })

  test('gives an attacker with one support account no way to change a factor', async () => {
    const attacker = signedIn(asker)
    const user = await freshUser()
    await verifyAgain(attacker)
    for (let count = 0; count < 2; count++)
      await post(attacker.browser, `${user.path}/disable`, { factor: 'app' }).expect(200)
    await post(attacker.browser, `${user.path}/remove-key`, { key: 'unknown' }).expect(422)
    await post(attacker.browser, `${user.path}/erase`, { confirmed: 'on' }).expect(403)
    const request = await newest()
    const consent = `${CONSENTS}/approve`
    const answer = await post(attacker.browser, consent, request).expect(422)
    expect(textOf(answer.text)).toContain('another operator has to consent')
    const session = await secondSession(attacker)
    await post(session, consent, request).expect(422)
    await post(session, consent, { ...request, id: 'guessed' }).expect(422)
    await post(session, consent, { ...request, application: 'other' }).expect(422)
    // A request from another site, made by the browser of the second operator.
    const victim = signedIn(other)
    await verifyAgain(victim)
    await post(victim.browser, consent, request).set('Sec-Fetch-Site', 'cross-site').expect(403)
    await post(signedIn(viewer).browser, consent, request).expect(403)
    await read(signedIn(viewer).browser, CONSENTS, 403)
    expect(await disabled(user)).toBe(0)
  })

  test('needs a recent second factor to consent, and lets two operators decide at once only one way', async () => {
    const [first, second] = [signedIn(asker), signedIn(other)]
    const third = await console.signUp('admin')
    const user = await freshUser()
    await verifyAgain(first)
    await post(first.browser, `${user.path}/disable`, { factor: 'app' }).expect(200)
    const request = await newest()
    advance(11 * 60)
    await post(second.browser, `${CONSENTS}/approve`, request)
      .expect(303)
      .expect('location', /^\/console\/mfa/)
    expect(await disabled(user)).toBe(0)
    await verifyAgain(second)
    await verifyAgain(third)
    const answers = await Promise.all([
      post(second.browser, `${CONSENTS}/approve`, request),
      post(third.browser, `${CONSENTS}/refuse`, request),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(await disabled(user)).toBe(answers[0]?.status === 200 ? 1 : 0)
  })
})
