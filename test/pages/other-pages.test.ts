import { describe, expect, it } from 'vitest'
import { renderView } from '../../src/pages/render.js'
import { isDelivered } from '../../src/protocol/methods.js'
import { everyCase } from '../kit/every-case.js'
import { FACTORS, frame, problem } from './samples.js'

describe('the chooser', () => {
  const page = renderView({ page: 'choose', factors: FACTORS, preferred: 'sms-1', backup: true }, frame)
  const order = [...page.matchAll(/value="([\w-]+-1)"|factor=([\w-]+-1)/g)].map(
    ([, posted, linked]) => posted ?? linked,
  )

  it('shows the preferred factor first and the others in order', () => {
    const others = FACTORS.map(({ id }) => id).filter((id) => id !== 'sms-1')
    expect(order).toEqual(['sms-1', ...others])
    expect(page.match(/mfa-choice-preferred/g)).toHaveLength(1)
  })

  it('has forms for methods that send a code and links for others', () => {
    expect(page.match(/action="\/mfa\/challenge"/g)).toHaveLength(
      FACTORS.filter(({ method }) => isDelivered(method)).length,
    )
    for (const factor of ['app-1', 'security-key-1', 'passkey-1']) {
      expect(page).toContain(`href="/mfa/verify?factor=${factor}"`)
    }
  })

  it('says on each button what it does', () => {
    const text = page.replace(/<[^>]+>/g, '')
    for (const words of [
      'Text a code to ••• 57',
      'Call ••• 57',
      'Email a code to a…e@example.com',
      'one code by email and text',
    ]) {
      expect(text).toContain(words)
    }
  })

  it('calls email the least secure', () => {
    expect(page).toContain('Least secure')
  })
})

describe('setting up an app', () => {
  const page = renderView(
    {
      page: 'enroll',
      qr: 'data:image/png;base64,AAAA',
      uri: 'otpauth://totp/Vault:alice?secret=ABCDEFGHIJ&issuer=Vault',
      secret: 'ABCDEFGHIJ',
    },
    { ...frame, purpose: 'manage' },
  )

  it('shows the QR code with an alternative text', () => {
    expect(page).toContain('src="data:image/png;base64,AAAA" alt="QR code for your authenticator app"')
  })

  it('shows the key in groups of four and copies it without spaces', () => {
    expect(page).toContain('>ABCD EFGH IJ</code>')
    expect(page).toContain('hidden data-mfa-copy="ABCDEFGHIJ"')
  })

  it('opens the app on the same phone', () => {
    expect(page).toContain('href="otpauth://totp/Vault:alice?secret=ABCDEFGHIJ&amp;issuer=Vault"')
  })

  it('posts the first code', () => {
    expect(page).toContain('action="/mfa/enroll-app/confirm"')
  })

  it('recommends backup codes afterward', () => {
    expect(renderView({ page: 'enrolled', backup: true }, frame)).toContain('href="/mfa/backup"')
  })

  it('recommends adding a contact if backup codes cannot be sent', () => {
    const page = renderView({ page: 'enrolled', backup: false }, frame)
    expect(page).not.toContain('/mfa/backup')
    expect(page).toContain('Also add an email address or phone number to your Vault account')
  })
})

describe('the overview', () => {
  it('offers only what is available', () => {
    const manage = { ...frame, purpose: 'manage' } as const
    const all = renderView({ page: 'overview', factors: FACTORS, backup: true }, manage)
    expect(all).toContain('href="/mfa/enroll-app">Replace your authenticator app')
    expect(all).toContain('href="/mfa/backup"')
    const none = renderView({ page: 'overview', factors: FACTORS, backup: false, enroll: false }, manage)
    expect(none).not.toMatch(/\/mfa\/(enroll-app|backup)/)
  })
})

describe('backup codes', () => {
  it('are sent with a button, to a contact that the page shows', () => {
    const page = renderView({ page: 'backup', to: 'a…e@example.com' }, frame)
    expect(page).toContain('method="post" action="/mfa/backup"')
    expect(page).toContain('a…e@example.com')
  })

  it('are not offered without a contact to send them to', () => {
    const page = renderView({ page: 'backup' }, { ...frame, purpose: 'manage' })
    expect(page).toContain('We have no contact for backup codes')
    expect(page).not.toContain('<form')
  })
})

describe('a page where nothing goes on', () => {
  it('says when a lock ends, and not when the pending login does', () => {
    const page = renderView({ page: 'stop', message: problem('locked', 7000), next: 'retry' }, frame)
    expect(page).toContain('You can try again in 2 hours.')
    expect(page).toContain('data-mfa-left="7000"')
    expect(page).not.toContain('this sign‑in expires')
  })

  it('links to the pages of the host', () =>
    everyCase(
      [
        ['sign-in', '/login'],
        ['retry', '/mfa'],
        ['home', '/account'],
      ] as const,
      ([next, path]) => {
        const page = renderView({ page: 'stop', message: problem('service_unavailable'), next }, frame)
        expect(page).toContain(`<a class="mfa-primary" href="${path}">`)
      },
    ))
})
