import { describe, expect, it } from 'vitest'
import { renderView } from '../../src/pages/render.js'
import { browserAgent, host } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { codeView, factorOf, frame, manyTongued, VIEWS } from './samples.js'

describe('the logo of the host', () => {
  it('takes the place of the initial on every page, also on error pages', async () => {
    const { app } = host({ options: { pages: { logo: '/brand/logo.svg' } } })
    const browser = browserAgent(app)
    const errorPage = await browser.post('/mfa/challenge').set('Sec-Fetch-Site', 'cross-site').expect(403)
    await login(browser, 'bob').type('form').expect(200)
    for (const { text } of [errorPage, await browser.get('/mfa').expect(200)]) {
      expect(text).toContain('<img class="mfa-logo" src="/brand/logo.svg" alt="" height="32">')
      expect(text).not.toContain('mfa-mark')
    }
  })

  it('is never an address that runs a script or leads to another site', () => {
    const page = renderView(VIEWS.choose, { ...frame, logo: 'javascript:alert(1)' })
    expect(page).not.toContain('javascript:')
    expect(() => host({ options: { pages: { logo: '//cdn.example/logo.svg' } } })).toThrow(
      'pages.logo must be a path on this site, like /logo.svg',
    )
  })
})

describe('the checkbox for trusting a browser', () => {
  it('stands between the code field and the button, which alone submits the form', () => {
    const trust = { forMs: 30 * 86_400_000, ticked: false }
    const page = renderView(codeView(factorOf('sms'), { trust }), frame)
    const places = ['name="code"', 'name="trust"', '>Continue<'].map((part) => page.indexOf(part))
    expect(places).toEqual([...places].sort((one, other) => one - other))
    expect(places).not.toContain(-1)
    expect(page).not.toContain('data-mfa-digits')
    expect(renderView(codeView(factorOf('sms')), frame)).toContain('data-mfa-digits="6"')
  })
})

describe('the menu of languages', () => {
  it('shows the current language, and the others in a list that opens without a script', () => {
    const page = renderView(VIEWS.choose, { ...manyTongued, locales: ['de'] })
    const menu = /<details class="mfa-languages">([\s\S]*?)<\/details>/.exec(page)?.[1] ?? ''
    expect(menu).toMatch(/<summary>.*Sprache: <\/span>Deutsch<\/span><\/summary>/)
    expect(menu.match(/name="language"/g)).toHaveLength(14)
    expect(menu).toContain('value="de" lang="de" aria-current="true">Deutsch</button>')
  })
})
