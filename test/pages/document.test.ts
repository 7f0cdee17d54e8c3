import { describe, expect, it } from 'vitest'
import { assets } from '../../src/pages/assets.js'
import { en } from '../../src/pages/locales/en.js'
import { renderView } from '../../src/pages/render.js'
import { TRANSLATIONS } from '../../src/pages/translations.js'
import type { PageFrame, PageMessage } from '../../src/pages/view.js'
import { failureOfFault } from '../../src/protocol/key-failure.js'
import { KEY_FAULTS } from '../../src/protocol/keys.js'
import { ALL_VIEWS, codeView, factorOf, frame, keyPageOf, problem, VIEWS } from './samples.js'

const LOCALES = ['en', ...TRANSLATIONS]
const PURPOSES: readonly PageFrame['purpose'][] = ['sign-in', 'step-up', 'manage']
const MESSAGES: readonly PageMessage[] = [
  ...Object.keys(en.problems).map((code) => problem(code as Parameters<typeof problem>[0])),
  { tone: 'error', code: 'invalid_code', attemptsLeft: 1, retryAfterSeconds: 0 },
  ...KEY_FAULTS.map((fault): PageMessage => ({ tone: 'error', code: 'invalid_key', fault, attemptsLeft: 2 })),
  ...Object.keys(en.success).map((code) => ({ tone: 'success', code }) as PageMessage),
]

describe.each(LOCALES)('a page in %s', (locale) => {
  it.each(ALL_VIEWS)('is complete: %s', (_, view) => {
    for (const purpose of PURPOSES)
      expectWhole(renderView(view, { ...frame, purpose, locales: [locale] }), locale)
  })

  it.each(MESSAGES)('shows the message $code', (message) => {
    expectWhole(renderView(codeView(factorOf('sms')), { ...frame, message, locales: [locale] }), locale)
    expectWhole(renderView({ page: 'stop', message, next: 'retry' }, { ...frame, locales: [locale] }), locale)
  })
})

function expectWhole(page: string, locale: string): void {
  // What a countdown is worded with is for the script to fill.
  const said = page.replace(/ data-mfa-text="[^"]*"/g, '')
  expect(said).not.toMatch(/\{\w+\}|undefined|\[object|NaN/)
  expect(page).toMatch(/^<!doctype html>\n<html lang="/)
  expect(page).toContain(`<html lang="${locale}" dir="${locale === 'ar' ? 'rtl' : 'ltr'}">`)
  expect(page.match(/<h1>/g)).toHaveLength(1)
  expect(page.match(/<main /g)).toHaveLength(1)
  expect(page.match(/<title>[^<]+ – Vault<\/title>/g)).toHaveLength(1)
}

describe('a fault of a key', () => {
  it.each(KEY_FAULTS)('is explained in words, with the attempts that are left: %s', (fault) => {
    const message = { tone: 'error', code: 'invalid_key', fault, attemptsLeft: 2 } as const
    const page = renderView(keyPageOf('passkey'), { ...frame, message })
    const { title } = en.keys.failures[failureOfFault(fault)]
    expect(page.replaceAll(/<template[\s\S]*?<\/template>/g, '')).toContain(`<strong>${title}</strong>`)
    expect(page).toContain('You have 2 attempts left.')
  })
})

describe('a page under a strict content security policy', () => {
  it.each(ALL_VIEWS)(
    'has no inline script or style, and loads the script for keys only for them: %s',
    (_, view) => {
      const page = renderView(view, frame)
      expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<base|<iframe/i)
      const usesKeys = ['keys', 'key-offer'].includes(view.page) || (view.page === 'key' && !view.exhausted)
      const names = usesKeys ? (['mfa.js', 'mfa-keys.js'] as const) : (['mfa.js'] as const)
      expect(page.match(/<script[^>]*>[^<]*/g)).toEqual(
        names.map((name) => `<script type="module" src="/mfa/assets/${name}?v=${assets[name].version}">`),
      )
      for (const [, address] of page.matchAll(/\s(?:src|href|action)="([^"]*)"/g)) {
        expect(address).toMatch(/^(\/|data:|otpauth:)/)
      }
    },
  )

  it('links the style sheet with its version, and the host’s own after it', () => {
    const page = renderView({ page: 'enrolled', backup: true }, { ...frame, stylesheet: '/brand.css' })
    const sheets = [...page.matchAll(/<link rel="stylesheet" href="([^"]*)">/g)].map(([, address]) => address)
    expect(sheets).toEqual([`/mfa/assets/mfa.css?v=${assets['mfa.css'].version}`, '/brand.css'])
  })
})

describe('the title of the document', () => {
  const titleOf = (page: string) => /<title>(.*)<\/title>/.exec(page)?.[1]

  it('names the page, then the app', () => {
    expect(titleOf(renderView(codeView(factorOf('sms')), frame))).toBe('Check your text messages – Vault')
  })

  it('begins with "Error" if there is one', () => {
    const failed = { ...frame, message: problem('invalid_code') }
    expect(titleOf(renderView(codeView(factorOf('sms')), failed))).toBe(
      'Error: Check your text messages – Vault',
    )
    expect(titleOf(renderView({ page: 'stop', message: problem('locked', 60) }, frame))).toBe(
      'Error: Temporarily locked – Vault',
    )
  })

  it('does not call a success an error', () => {
    const message = { tone: 'success', code: 'code_sent' } as const
    expect(titleOf(renderView(codeView(factorOf('sms')), { ...frame, message }))).not.toContain('Error')
  })
})

describe('the ways out', () => {
  const choose = VIEWS['choose from nothing']

  it('let the user cancel a pending login, and say when it ends', () => {
    const page = renderView(choose, frame)
    expect(page).toContain('<form method="post" action="/mfa/cancel">')
    expect(page).toContain('this sign‑in expires in 9 minutes.')
    expect(page).toContain('data-mfa-leads-to="/mfa"')
  })

  it('lead a signed-in user back to the app without confirming', () => {
    const page = renderView(choose, { ...frame, purpose: 'step-up' })
    expect(page).toContain('<a class="mfa-link" href="/account">Not now</a>')
    expect(page).not.toContain('/mfa/cancel')
  })

  it('start over at the root if the routers are mounted there', () => {
    expect(renderView(choose, { ...frame, base: '' })).toContain('data-mfa-leads-to="/"')
  })
})
