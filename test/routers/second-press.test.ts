import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, type Host, host, signInFully } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

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

  it('prepares another one after a wrong code, and when the first one is over', async () => {
    const clock = stopClock()
    const made = host()
    const browser = await signedIn(made)
    await press(browser)
    await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: '000000' }).expect(303)
    await press(browser)
    expect(made.standIn.count('enrollApp')).toBe(2)
    clock.move(15 * MINUTE)
    await press(browser)
    expect(made.standIn.count('enrollApp')).toBe(3)
  })

  it('needs the factor that the first one needed (R55)', async () => {
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
})
