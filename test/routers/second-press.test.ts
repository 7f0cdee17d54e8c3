import { describe, expect, it } from 'vitest'
import { totpCode } from '../../src/testing/service.js'
import { keyHost } from '../keys/kit.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, type Host, host, jsonAgent, signInFully } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'

/** Presses "Set up" as a browser does, and returns what the page shows. */
async function press(browser: ReturnType<typeof browserAgent>) {
  await browser.post('/mfa/enroll-app').type('form').send({}).expect(303)
  const { text } = await browser.get('/mfa/enroll-app/confirm').expect(200)
  return /<img class="mfa-qr[^>]*src="([^"]+)"/.exec(text)?.[1] ?? text
}

async function signedIn({ app }: Pick<Host, 'app'>) {
  const browser = browserAgent(app)
  await login(browser, 'nina')
  return browser
}

describe('a second press of "Set up" (R53, R54)', () => {
  it('shows the same QR code within one session, and asks the service for no other', async () => {
    const made = host()
    const browser = await signedIn(made)
    const first = await press(browser)
    expect(await press(browser)).toBe(first)
    expect(made.standIn.count('enrollApp')).toBe(1)
  })

  it('shows another session a QR code of its own', async () => {
    const made = host()
    const [browser, other] = [await signedIn(made), await signedIn(made)]
    await press(browser)
    await press(other)
    expect(made.standIn.count('enrollApp')).toBe(2)
  })

  it('shows the same one after a wrong code, and another one when its time is over', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await signedIn(made)
    await press(browser)
    await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: '000000' }).expect(303)
    await press(browser)
    expect(made.standIn.count('enrollApp')).toBe(1)
    clock.move(15 * MINUTE)
    await press(browser)
    expect(made.standIn.count('enrollApp')).toBe(2)
  })

  itWithSession('needs the factor that the first one needed (R55)', async () => {
    const clock = stopClock()
    const made = host()
    const agent = await signInFully(made, 'bob')
    await agent.post('/mfa/enroll-app').set('Accept', 'text/html').type('form').send({}).expect(303)
    clock.move(6 * MINUTE)
    await agent
      .post('/mfa/enroll-app')
      .set('Accept', 'text/html')
      .type('form')
      .send({})
      .expect(303)
      .expect('Location', '/mfa')
  })

  itWithSession(
    'gives a program the same secret, and one without the key of its browser another',
    async () => {
      const made = keyHost()
      const agent = jsonAgent(made.app)
      await login(agent, 'nina')
      const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
      const again = await agent.post('/mfa/enroll-app').send({}).expect(200)
      expect(again.body).toMatchObject({ secret: body.secret, uri: body.uri })
      expect(again.body.qr).toMatch(/^data:image\/svg\+xml;base64,/)
      agent.jar.setCookie(`mfa_enrollment=${'A'.repeat(43)}; Path=/mfa`, '127.0.0.1', '/mfa')
      const copied = await agent.post('/mfa/enroll-app').send({}).expect(200)
      expect(copied.body.secret).not.toBe(body.secret)
      const code = totpCode(copied.body.secret, Date.now())
      await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(200)
    },
  )
})

/** The secret on the page of an enrollment. */
const secretOn = (text: string) => /data-mfa-copy="([A-Z2-7]+)"/.exec(text)?.[1] ?? ''

/** A browser of nina, who has to set up an app, and what its pages show. */
async function settingUp({ app }: Pick<Host, 'app'>) {
  const browser = await signedIn({ app })
  const open = async () => (await browser.get('/mfa/enroll-app/confirm').expect(200)).text
  const start = async () => {
    await browser.post('/mfa/enroll-app').type('form').send({}).expect(303)
    return secretOn(await open())
  }
  const enter = (code: string) => browser.post('/mfa/enroll-app/confirm').type('form').send({ code })
  return { browser, open, start, enter }
}

describe('a QR code that another session replaced (R53, R54)', () => {
  const require = { options: { policy: () => 'require' as const } }

  it('confirms nothing and costs no attempt, and its page says what happened and leads on', async () => {
    const made = keyHost(require)
    const [first, second] = [await settingUp(made), await settingUp(made)]
    const [replaced, newest] = [await first.start(), await second.start()]
    expect(replaced).not.toBe(newest)
    for (let nth = 0; nth < 12; nth++) {
      await first.enter(totpCode(replaced, Date.now())).expect(303)
      const text = await first.open()
      expect(text).toContain('This QR code was replaced')
      expect(text).toMatch(/action="\/mfa\/enroll-app"><button class="mfa-primary">/)
      expect([replaced, newest].filter((secret) => text.includes(secret))).toEqual([])
      expect(text).not.toMatch(/attempts? left/)
    }
    expect(made.types()).not.toContain('locked')
    await second.enter(totpCode(newest, Date.now())).expect(303).expect('Location', '/mfa/enroll-app/done')
  })

  it('is told from a wrong code in JSON as well', async () => {
    const made = keyHost(require)
    const agent = jsonAgent(made.app)
    await login(agent, 'nina')
    const { body } = await agent.post('/mfa/enroll-app').send({}).expect(200)
    await (await settingUp(made)).start()
    const code = totpCode(body.secret, Date.now())
    const refused = await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(409)
    expect(refused.body.code).toBe('enrollment_replaced')
    expect(refused.body.attemptsLeft).toBeUndefined()
    const next = await agent.post('/mfa/enroll-app').send({}).expect(200)
    expect(next.body.secret).not.toBe(body.secret)
    const right = totpCode(next.body.secret, Date.now())
    await agent.post('/mfa/enroll-app/confirm').send({ code: right }).expect(200)
  })

  it('gives way to a new one of its own session, which replaces the other in turn', async () => {
    const made = keyHost(require)
    const [first, second] = [await settingUp(made), await settingUp(made)]
    await first.start()
    await second.start()
    const own = await first.start()
    expect(await second.open()).toContain('This QR code was replaced')
    await first.enter(totpCode(own, Date.now())).expect(303).expect('Location', '/mfa/enroll-app/done')
  })

  it('has ended as well once the other session confirmed its own', async () => {
    const made = keyHost(require)
    const [first, second] = [await settingUp(made), await settingUp(made)]
    const replaced = await first.start()
    const newest = await second.start()
    await second.enter(totpCode(newest, Date.now())).expect(303)
    await first.enter(totpCode(replaced, Date.now())).expect(303).expect('Location', '/mfa')
    expect(made.kit.apps.code('nina@example.com')).toBe(totpCode(newest, Date.now()))
  })
})

describe('an approval of a new app (R55)', () => {
  it('covers a second press on the page, which shows the same secret', async () => {
    const made = keyHost()
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    const newestCode = () => made.kit.inbox.all()[0]?.code
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
    await browser.post('/mfa/verify').type('form').send({ code: newestCode() }).expect(303)
    await browser.post('/mfa/enroll-app').type('form').expect(303).expect('Location', '/mfa')
    const { text } = await browser.get('/mfa').expect(200)
    const approval = /name="approval" value="([^"]+)"/.exec(text)?.[1]
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
    await browser.post('/mfa/verify').type('form').send({ code: newestCode(), approval }).expect(303)
    const shown: string[] = []
    for (let nth = 0; nth < 3; nth++) {
      await browser
        .post('/mfa/enroll-app')
        .type('form')
        .expect(303)
        .expect('Location', /confirm$/)
      shown.push(secretOn((await browser.get('/mfa/enroll-app/confirm').expect(200)).text))
    }
    expect(new Set(shown).size).toBe(1)
    const code = totpCode(shown[0] ?? '', Date.now())
    await browser.post('/mfa/enroll-app/confirm').type('form').send({ code }).expect(303)
  })
})
