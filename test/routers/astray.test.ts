import { describe, expect, it } from 'vitest'
import { browserAgent, host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** A browser of somebody halfway through signing in, and the app it is in. */
async function halfway() {
  const made = host({
    options: {
      languages: { offer: ['en', 'de'] },
      trustedDevices: { store: 'memory' },
      urls: { publicUrl: 'https://app.example' },
    },
  })
  const browser = browserAgent(made.app)
  await login(browser, 'alice').type('form').expect(200)
  return { ...made, browser }
}

describe('a browser that went astray', () => {
  it.each(['challenge', 'cancel', 'language', 'devices/revoke', 'devices/revoke-all'])(
    'gets a page, and the way to the start, where only forms are sent to: %s',
    async (path) => {
      const { app, browser } = await halfway()
      const page = await browser.get(`/mfa/${path}`).expect(405).expect('Allow', 'POST')
      expect(page.type).toBe('text/html')
      expect(page.text).toContain('You can’t open this address directly')
      expect(page.text).toContain('href="/mfa">Try again')
      const program = await jsonAgent(app).get(`/mfa/${path}`).expect(405)
      expect(program.body.code).toBe('method_not_allowed')
    },
  )

  it.each(['challenge', 'language', 'not-me'])(
    'gets a page when a form lacks something: %s',
    async (path) => {
      const { app, browser } = await halfway()
      const page = await browser.post(`/mfa/${path}`).type('form').send({ other: 'x' }).expect(400)
      expect(page.type).toBe('text/html')
      expect(page.text).toContain('Something is missing')
      const program = await jsonAgent(app).post('/mfa/language').send({}).expect(400)
      expect(program.body.errors[0].field).toBe('language')
    },
  )

  it('is asked for the code again when it sent none', async () => {
    const { browser, standIn } = await halfway()
    await challenge(browser, 'sms').type('form').expect(303)
    const page = await verify(browser, '', { factor: 'sms' }).type('form').expect(400)
    expect(page.text).toContain('Something is missing')
    expect(page.text).toContain('aria-invalid="true"')
    expect(standIn.count('verify')).toBe(0)
  })
})
