import { describe, expect, it } from 'vitest'
import type { MfaOptions } from '../../src/index.js'
import type { LanguageOptions } from '../../src/options/pages.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent, signIn, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const offering = (
  languages: LanguageOptions<TestUser> = { offer: ['en', 'de', 'fr'] },
  more: Partial<MfaOptions<TestUser>> = {},
) => host({ options: { languages, ...more } })

/** A browser with a pending login. */
async function pendingBrowser({ app }: ReturnType<typeof host>, acceptLanguage = 'en') {
  const browser = browserAgent(app).set('Accept-Language', acceptLanguage)
  await login(browser, 'alice').type('form').expect(200)
  return browser
}

const languageOf = ({ text }: { text: string }) => /<html lang="([^"]*)"/.exec(text)?.[1]
const backOf = ({ text }: { text: string }) => /name="back" value="([^"]*)"/.exec(text)?.[1]

describe('the language switch', () => {
  it('is absent unless the host turns it on', async () => {
    const made = host()
    const browser = await pendingBrowser(made)
    expect((await browser.get('/mfa').expect(200)).text).not.toContain('/language')
    await browser.post('/mfa/language').type('form').send({ language: 'de' }).expect(404)
  })

  it('names each language in that language, and marks the current one', async () => {
    const page = await (await pendingBrowser(offering())).get('/mfa').expect(200)
    expect(page.text).toContain('value="en" lang="en" aria-current="true">English</button>')
    expect(page.text).toContain('value="de" lang="de">Deutsch</button>')
    expect(page.text).toContain('value="fr" lang="fr">Français</button>')
    expect(page.text).not.toContain('Español')
  })

  it('sets the language of the pages, and leads back to the page', async () => {
    const browser = await pendingBrowser(offering())
    const page = await browser.get('/mfa?choose').expect(200)
    expect(backOf(page)).toBe('/mfa?choose')
    const chosen = await browser
      .post('/mfa/language')
      .type('form')
      .send({ language: 'de', back: backOf(page) })
    expect([chosen.status, chosen.headers.location]).toEqual([303, '/mfa?choose'])
    expect(languageOf(await browser.get('/mfa?choose'))).toBe('de')
  })

  it('sets the language of the messages', async () => {
    const made = offering()
    const agent = await signIn(made.app, 'bob')
    const { body } = await agent.post('/mfa/language').send({ language: 'DE' }).expect(200)
    expect(body).toEqual({ status: 'chosen', language: 'de', next: '/mfa' })
    await challenge(agent, 'sms').expect(200)
    expect(made.standIn.calls.at(-1)).toMatchObject({ verb: 'send', request: { locale: 'de' } })
  })

  it('keeps the choice in a cookie that scripts cannot read (R11)', async () => {
    const { headers } = await jsonAgent(offering().app)
      .post('/mfa/language')
      .send({ language: 'fr' })
      .expect(200)
    expect(String(headers['set-cookie'])).toMatch(
      /^mfa_language=fr; Max-Age=31536000; Path=\/; .*HttpOnly; SameSite=Lax$/,
    )
  })

  it('keeps the pending login and its code', async () => {
    const made = offering()
    const browser = await pendingBrowser(made)
    await challenge(browser, 'sms').type('form').expect(303)
    await browser.post('/mfa/language').type('form').send({ language: 'de', back: '/mfa/verify' }).expect(303)
    expect(languageOf(await browser.get('/mfa/verify').expect(200))).toBe('de')
    expect(made.standIn.count('send')).toBe(1)
    await verify(browser, made.standIn.newestCode(), { factor: 'sms' }).type('form').expect(303)
    expect((await browser.get('/secret').expect(200)).body.secret).toBe(42)
  })

  it('works without a sign-in, but not by GET (R14)', async () => {
    const { app } = offering()
    await jsonAgent(app).post('/mfa/language').send({ language: 'de' }).expect(200)
    const { headers } = await jsonAgent(app).get('/mfa/language?language=de').expect(405)
    expect(headers.allow).toBe('POST')
    expect(headers['set-cookie']).toBeUndefined()
  })

  it('refuses requests from other sites (R13)', async () => {
    const answer = await jsonAgent(offering().app)
      .post('/mfa/language')
      .set('Sec-Fetch-Site', 'cross-site')
      .send({ language: 'de' })
      .expect(403)
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it('refuses what is no language (R81)', () =>
    everyCase(
      [{}, { language: 'es' }, { language: 'constructor' }, { language: ['de'] }, { language: '' }],
      async (body) => {
        const answer = await jsonAgent(offering().app).post('/mfa/language').send(body).expect(400)
        expect(answer.body.errors[0].field).toBe('language')
        expect(answer.headers['set-cookie']).toBeUndefined()
      },
    ))

  it('leads only to pages of the plugin (R15)', () =>
    everyCase(
      [
        'https://evil.example/',
        '//evil.example',
        '/\\evil.example',
        '/account',
        '/mfa-login',
        '/mfa/../account',
        '',
      ],
      async (back) => {
        const { body } = await jsonAgent(offering().app)
          .post('/mfa/language')
          .send({ language: 'de', back })
          .expect(200)
        expect(body.next).toBe('/mfa')
      },
    ))

  it('leads from the response to a form back to a page of the same kind', async () => {
    const browser = await pendingBrowser(offering())
    await challenge(browser, 'sms').type('form').expect(303)
    const wrong = await verify(browser, '000000', { factor: 'sms' }).type('form').redirects(1).expect(200)
    expect(backOf(wrong)).toBe('/mfa/verify?factor=sms&amp;refused')
    const backup = await verify(browser, 'x', { factor: 'backup' }).type('form').redirects(1).expect(200)
    expect(backOf(backup)).toBe('/mfa/verify?factor=backup&amp;refused')
    const unknown = await challenge(browser, 'nothing').type('form').redirects(1)
    expect(backOf(unknown)).toBe('/mfa?choose&amp;refused')
  })

  it('is on the page with the QR code too, which shows the same one in another language', async () => {
    const made = offering({ offer: ['en', 'de'] }, { policy: () => 'require' })
    const browser = browserAgent(made.app)
    await login(browser, 'nina').type('form').expect(200)
    expect(backOf(await browser.get('/mfa/enroll-app').expect(200))).toBe('/mfa/enroll-app')
    const shown = await browser.post('/mfa/enroll-app').type('form').send({}).redirects(1).expect(200)
    expect(shown.text).toContain('data:image/png')
    expect(backOf(shown)).toBe('/mfa/enroll-app/confirm')
    await browser
      .post('/mfa/language')
      .type('form')
      .send({ language: 'de', back: backOf(shown) })
      .expect(303)
    const german = await browser.get('/mfa/enroll-app/confirm').expect(200)
    expect(languageOf(german)).toBe('de')
    expect(german.text).toContain('data:image/png')
  })
})

describe('the language of a request', () => {
  it('is asked of the host once, for the message, the check of the code and the page', async () => {
    let asked = 0
    const made = offering({
      locale: () => {
        asked++
        return 'de'
      },
    })
    const { standIn } = made
    const timesAsked = async (request: PromiseLike<unknown>) => {
      asked = 0
      await request
      return asked
    }
    const browser = browserAgent(made.app)
    await login(browser, 'alice').type('form').expect(200)
    expect(await timesAsked(browser.get('/mfa?choose').expect(200))).toBe(1)
    expect(await timesAsked(browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }))).toBe(1)
    expect(await timesAsked(browser.post('/mfa/verify').type('form').send({ code: '000000' }))).toBe(1)
    expect(standIn.calls.at(-1)).toMatchObject({ verb: 'verify', request: { locale: 'de' } })
  })
})

describe('the offered languages', () => {
  it('are the only ones of the pages', () =>
    everyCase(
      [
        ['de-CH, en', 'de'],
        ['es, fr;q=0.5', 'fr'],
        ['es', 'en'],
        ['', 'en'],
      ],
      async ([acceptLanguage, language]) => {
        expect(languageOf(await (await pendingBrowser(offering(), acceptLanguage)).get('/mfa'))).toBe(
          language,
        )
      },
    ))

  it('begin with the one for browsers that ask for none of them', async () => {
    expect(
      languageOf(await (await pendingBrowser(offering({ offer: ['fr', 'de'] }), 'en')).get('/mfa')),
    ).toBe('fr')
  })

  it('can be remembered by the host', async () => {
    const kept: string[] = []
    const made = offering({
      offer: ['en', 'de'],
      remember: (_req, _res, language) => void kept.push(language),
      locale: () => kept.at(-1),
    })
    const browser = await pendingBrowser(made)
    const answer = await browser.post('/mfa/language').type('form').send({ language: 'de' }).expect(303)
    expect(String(answer.headers['set-cookie'])).not.toContain('mfa_language')
    expect(kept).toEqual(['de'])
    expect(languageOf(await browser.get('/mfa'))).toBe('de')
    // The plugin's cookie is not read then.
    expect(languageOf(await browser.get('/mfa').set('Cookie', 'mfa_language=en'))).not.toBe('en')
  })

  it('lead to an error of the host when it cannot remember the choice', async () => {
    const made = offering({
      offer: ['en', 'de'],
      remember: async () => Promise.reject(new RangeError('disk full')),
      locale: () => 'en',
    })
    const browser = await pendingBrowser(made)
    await browser.post('/mfa/language').type('form').send({ language: 'de' }).expect(500)
    expect(made.failures).toEqual([new RangeError('disk full')])
  })

  it('cannot be anything else (R18)', () =>
    everyCase(
      [
        [{ offer: ['en'] }, /languages.offer must contain at least two languages/],
        [
          { offer: ['en', 'tlh'] },
          /languages.offer contains tlh, which the pages are not available in; give its texts in languages.texts/,
        ],
        [{ offer: ['en', 'de', 'EN'] }, /contains a language twice/],
        [{ offer: ['en', 'de'], remember: () => {} }, /give languages.locale as well/],
        [{ remember: () => {}, locale: () => 'en' }, /give languages.offer as well/],
        [{ offer: ['en', 'de'], keep: 1 }, /languages.keep is not an option/],
      ],
      ([languages, fault]) => {
        expect(() => offering(languages as LanguageOptions<TestUser>)).toThrow(fault)
      },
    ))
})
