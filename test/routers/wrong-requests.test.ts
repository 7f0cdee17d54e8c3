import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** A browser with a pending login, and its app. */
async function pendingBrowser() {
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

describe('a browser that sends a wrong request', () => {
  it('gets a page with a link to the start when it opens an address that only takes forms', () =>
    everyCase(['challenge', 'cancel', 'language', 'devices/revoke', 'devices/revoke-all'], async (path) => {
      const { app, browser } = await pendingBrowser()
      const page = await browser.get(`/mfa/${path}`).expect(405).expect('Allow', 'POST')
      expect(page.type).toBe('text/html')
      expect(page.text).toContain('You can’t open this address directly')
      expect(page.text).toContain('href="/mfa">Try again')
      const program = await jsonAgent(app).get(`/mfa/${path}`).expect(405)
      expect(program.body.code).toBe('method_not_allowed')
    }))

  it('gets a page when a form lacks a field', () =>
    everyCase(['challenge', 'language', 'not-me'], async (path) => {
      const { app, browser } = await pendingBrowser()
      const page = await browser.post(`/mfa/${path}`).type('form').send({ other: 'x' }).expect(400)
      expect(page.type).toBe('text/html')
      expect(page.text).toContain('Something is missing')
      const program = await jsonAgent(app).post('/mfa/language').send({}).expect(400)
      expect(program.body.errors[0].field).toBe('language')
    }))

  it('is asked for the code again when it sent none', async () => {
    const { browser, standIn } = await pendingBrowser()
    await challenge(browser, 'sms').type('form').expect(303)
    const page = await verify(browser, '', { factor: 'sms' }).type('form').expect(400)
    expect(page.text).toContain('Something is missing')
    expect(page.text).toContain('aria-invalid="true"')
    expect(standIn.count('verify')).toBe(0)
  })
})
