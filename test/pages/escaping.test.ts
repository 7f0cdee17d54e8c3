import { describe, expect, it } from 'vitest'
import { html, imageDataUrl, otpauthLink, safeLink } from '../../src/pages/html.js'
import { renderView } from '../../src/pages/render.js'
import { fill } from '../../src/pages/text.js'
import { everyCase } from '../kit/every-case.js'
import { codeView, factorOf, frame, NOW, problem } from './samples.js'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='x'>{to}\`&`

describe('the html template', () => {
  it('escapes every value, in text and in attributes', () => {
    expect(html`<p title="${HOSTILE}">${HOSTILE}</p>`.markup).not.toMatch(/<script|<img|'|`/)
    expect(html`${'&amp;'}`.markup).toBe('&amp;amp;')
  })

  it('keeps markup of the template itself, also in lists', () => {
    expect(html`<ul>${['<', '>'].map((item) => html`<li>${item}</li>`)}</ul>`.markup).toBe(
      '<ul><li>&lt;</li><li>&gt;</li></ul>',
    )
  })

  it('renders nothing for undefined and false, but keeps a zero', () => {
    expect(html`${undefined}${false}${[]}${0}`.markup).toBe('0')
  })

  it('does not fill a placeholder inside a value', () => {
    expect(fill('{a} {b}', { a: '{b}', b: 'x' }).markup).toBe('{b} x')
  })
})

describe('a page with hostile values', () => {
  const hostile = { id: HOSTILE, method: 'sms', to: HOSTILE, label: HOSTILE } as const
  const dressed = {
    ...frame,
    appName: HOSTILE,
    accountName: HOSTILE,
    homePath: 'javascript:alert(1)',
    signInPath: '//evil.example',
    help: HOSTILE,
    languages: { offer: ['en', 'de'], back: HOSTILE },
    message: problem('locked', 60),
  }
  const challenge = { factor: hostile, delivery: 'sent', expiresAt: NOW + 1000, resendAt: NOW } as const

  it('contains no markup from these values', () =>
    everyCase(
      [
        renderView({ page: 'choose', factors: [hostile], preferred: HOSTILE, backup: true }, dressed),
        renderView(codeView(hostile, { challenge, others: [hostile] }), dressed),
        renderView(
          codeView(hostile, { challenge: { ...challenge, delivery: 'queued', follow: true } }),
          dressed,
        ),
        renderView({ page: 'overview', factors: [hostile], backup: true }, { ...dressed, purpose: 'manage' }),
        renderView({ page: 'enroll', qr: HOSTILE, uri: 'javascript:alert(1)', secret: HOSTILE }, dressed),
        renderView({ page: 'backup', to: HOSTILE }, dressed),
        renderView({ page: 'stop', message: problem('not_found'), next: 'sign-in' }, dressed),
        renderView({ page: 'stop', message: problem('service_misconfigured'), next: 'home' }, dressed),
      ],
      (page) => {
        expect(page.match(/<script/g)).toHaveLength(1)
        expect(page).not.toMatch(/<img|onerror='|javascript:|evil\.example/)
      },
    ))

  it('puts a factor’s id into a link as one parameter', () => {
    const app = { ...factorOf('app'), id: 'a&b="c"' }
    const page = renderView({ page: 'choose', factors: [app], backup: false }, frame)
    expect(page).toContain('href="/mfa/verify?factor=a%26b%3D%22c%22"')
  })
})

describe('an address', () => {
  it('may be a path or a web address', () =>
    everyCase(['/', '/account', '/a?b=c#d', 'https://example.com/x'], (address) => {
      expect(safeLink(address)).toBe(address)
    }))

  it('may not run a script or lead to another site by a path', () =>
    everyCase(
      [
        'javascript:alert(1)',
        '//evil.example',
        '/\\evil.example',
        '/\t/evil.example',
        'data:text/html,x',
        '',
      ],
      (address) => expect(safeLink(address)).toBe('/'),
    ))

  it('of a picture is a data URL of an image', () => {
    expect(imageDataUrl('data:image/png;base64,AAAA')).toBe('data:image/png;base64,AAAA')
    expect(imageDataUrl('data:text/html,x')).toBeUndefined()
    expect(imageDataUrl('https://example.com/qr.png')).toBeUndefined()
  })

  it('of an authenticator app is otpauth', () => {
    expect(otpauthLink('otpauth://totp/x')).toBe('otpauth://totp/x')
    expect(otpauthLink('https://example.com')).toBeUndefined()
  })
})
