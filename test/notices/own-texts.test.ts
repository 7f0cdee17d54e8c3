import { describe, expect, it } from 'vitest'
import type { AccountNotice, MfaTexts, NoticeCatalogue, PageCatalogue } from '../../src/index.js'
import { en as englishPages } from '../../src/pages/locales/en.js'
import { en as englishNotices } from '../../src/pages/notices/locales/en.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { jsonAgent } from '../kit/host.js'
import { followNotMeLink, linkIn, noticingHost, passBothFactors } from './kit.js'

/** The notices of a trusted browser and of the used link, with texts of the host, for an `Accept-Language` header. */
async function noticesIn(texts: MfaTexts, languages: string) {
  const made = noticingHost({ options: { languages: { texts } } })
  const agent = jsonAgent(made.app).set('Accept-Language', languages)
  await passBothFactors(made, 'bob', { trust: true }, agent)
  const trusted = made.newest('device_trusted')
  await followNotMeLink(made, trusted, agent).expect(200)
  return { trusted, secured: made.compromises[0]?.notice as AccountNotice }
}

describe('a host’s own texts in notices', () => {
  it('replace single texts, and their placeholders are filled in', async () => {
    const { trusted, secured } = await noticesIn(
      {
        en: {
          notices: {
            subject: { device_trusted: 'A browser, {app}', account_secured: undefined },
            browser: 'With: {value}',
            thenPassword: 'Call us then.',
          },
        },
      },
      'en-GB',
    )
    expect(trusted).toMatchObject({ locale: 'en', subject: 'A browser, Testbed' })
    expect(trusted.text).toContain('sign in to your Testbed account without the second step')
    expect(trusted.text).toContain(`\n${trusted.notMeUrl}\nCall us then.\n`)
    expect(linkIn(trusted)).toContain('/mfa/not-me?token=')
    expect(secured.subject).toBe('Testbed: your account was secured')
    expect(secured.text).toContain('Call us then.')
  })

  it('are chosen by language like page texts: a region inherits from its language', async () => {
    const texts: MfaTexts = {
      de: { notices: { fine: 'Alles gut, wenn Sie es waren.' } },
      'de-CH': { notices: { subject: { device_trusted: 'Grüezi von {app}' } } },
    }
    const { trusted } = await noticesIn(texts, 'de-CH,en')
    expect(trusted).toMatchObject({ locale: 'de-CH', subject: 'Grüezi von Testbed' })
    expect(trusted.text).toContain('Alles gut, wenn Sie es waren.')
    expect(trusted.inLanguage('de-AT').subject).toBe('Testbed: neuer vertrauenswürdiger Browser')
    expect(trusted.inLanguage('de-AT').text).toContain('Alles gut, wenn Sie es waren.')
  })

  const swedish: PageCatalogue = { ...englishPages }
  const swedishNotices: NoticeCatalogue = {
    ...englishNotices,
    subject: { ...englishNotices.subject, device_trusted: '{app} litar på en webbläsare' },
  }

  it('can add a language, which takes the method names from its page texts', async () => {
    const method = { ...swedish.overview.method, app: 'Kodapp' }
    const what = { ...englishNotices.what, factor_added: 'Nytt: {factor}.' }
    const sv = { ...swedish, overview: { ...swedish.overview, method }, notices: { ...swedishNotices, what } }
    const { trusted } = await noticesIn({ sv }, 'sv-FI')
    expect(trusted).toMatchObject({ locale: 'sv', subject: 'Testbed litar på en webbläsare' })

    const made = noticingHost({ options: { languages: { texts: { sv } } } })
    const agent = await passBothFactors(made, 'bob', {}, jsonAgent(made.app).set('Accept-Language', 'sv'))
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    expect(made.newest('factor_added').text).toMatch(/^Nytt: Kodapp \(.*\)\.\n/)
  })

  it('leave notices in the next requested language if a language has only page texts', async () => {
    const { trusted } = await noticesIn({ sv: swedish }, 'sv,fr;q=0.5')
    expect(trusted.locale).toBe('fr')
    expect(trusted.inLanguage('sv').locale).toBe('en')
  })
})
