import { describe, expect, it } from 'vitest'
import { renderView } from '../../src/pages/render.js'
import type { PageFrame } from '../../src/pages/view.js'
import { everyCase } from '../kit/every-case.js'
import { codeView, FACTORS, factorOf, frame, NOW, problem, VIEWS } from './samples.js'

const sms = factorOf('sms')
const backup = VIEWS['backup code']
const inputOf = (page: string) => /<input class="mfa-code"[^>]*>/.exec(page)?.[0] ?? ''

it('a refused code of an app may have been used a moment ago, which the page says, and no other page does', () => {
  const message = { tone: 'error', code: 'invalid_code', attemptsLeft: 4 } as const
  const text = (factor: Parameters<typeof codeView>[0]) => renderView(codeView(factor), { ...frame, message })
  expect(text(factorOf('app'))).toContain('Wrong or already used code')
  expect(text(sms)).toContain('Wrong code')
  expect(text(sms)).not.toContain('already used')
})

describe('the field for a code', () => {
  it('is a single input with the attributes that browsers and keyboards need', () => {
    const page = renderView(codeView(sms), frame)
    expect(page.match(/<input (?!type="hidden")/g)).toHaveLength(1)
    expect(page).toContain('<label class="mfa-label" for="mfa-code">Verification code</label>')
    const input = inputOf(page)
    for (const attribute of [
      'id="mfa-code"',
      'name="code"',
      'autocomplete="one-time-code"',
      'inputmode="numeric"',
    ]) {
      expect(input).toContain(attribute)
    }
    expect(input).toContain(' autofocus')
    expect(input).toContain('maxlength="64"')
    expect(input).not.toContain('pattern')
  })

  it('accepts letters for a backup code, and is not submitted automatically then', () => {
    const input = inputOf(renderView(backup, frame))
    expect(input).toContain('inputmode="text" autocapitalize="characters"')
    expect(input).not.toContain('data-mfa-digits')
  })

  it('is submitted automatically at the length of the service’s codes, or never', () => {
    expect(inputOf(renderView(codeView(sms), frame))).toContain('data-mfa-digits="6"')
    expect(inputOf(renderView(codeView(sms, { digits: 8 }), frame))).toContain('data-mfa-digits="8"')
    expect(inputOf(renderView(codeView(sms, { digits: 0 }), frame))).not.toContain('data-mfa-digits')
  })

  it('refers to the error above it', () => {
    const message = { tone: 'error', code: 'invalid_code', attemptsLeft: 3 } as const
    const page = renderView(codeView(sms), { ...frame, message })
    expect(page).toContain('id="mfa-message" role="alert"')
    expect(page).toContain('You have 3 attempts left.')
    expect(inputOf(page)).toContain('aria-describedby="mfa-message mfa-lead" aria-invalid="true"')
  })

  it('is not marked invalid for problems other than the code', () => {
    const input = inputOf(renderView(codeView(sms), { ...frame, message: problem('resend_too_soon', 20) }))
    expect(input).toContain('aria-describedby="mfa-message mfa-lead"')
    expect(input).not.toContain('aria-invalid')
  })

  it('does not take the focus on the page with the QR code', () => {
    const enroll = { page: 'enroll', qr: 'data:image/png;base64,AAAA' } as const
    expect(inputOf(renderView(enroll, frame))).not.toContain('autofocus')
    expect(inputOf(renderView(enroll, { ...frame, message: problem('invalid_code') }))).toContain('autofocus')
  })
})

describe('the code page', () => {
  it('posts the code with its factor', () => {
    expect(renderView(codeView(sms), frame)).toContain(
      '<form class="mfa-form" method="post" action="/mfa/verify"><input type="hidden" name="factor" value="sms-1">',
    )
    expect(renderView(backup, frame)).toContain('name="factor" value="backup"')
  })

  it('says where the code was sent and how long it is valid', () => {
    const page = renderView(codeView(sms), frame)
    expect(page).toContain('We texted a verification code to <bdi class="mfa-to" dir="ltr">••• 57</bdi>.')
    expect(page).toContain('The code expires in 10 minutes.')
  })

  it('has the wait to send again as its one clock, and others in their last minute', () => {
    const clocks = (more: Partial<PageFrame>) =>
      [...renderView(codeView(sms), { ...frame, ...more }).matchAll(/<p[^>]*data-mfa-left[^>]*>[^<]*/g)]
        .map(([line]) => line)
        .filter((line) => !line.includes(' hidden'))
        .map((line) => line.replace(/<[^>]*>/, ''))
    const wait = 'You can request the code again in 30 seconds.'
    expect(clocks({})).toEqual([wait])
    expect(clocks({ pendingLoginEndsAt: NOW + 60_000 })).toEqual([
      wait,
      'This sign‑in expires in 60 seconds.',
    ])
    const late = { now: NOW + 541_000 }
    expect(clocks(late)).toContain('The code expires in 59 seconds.')
  })

  it('lets the user request the code again after the wait that the server sets', () => {
    const page = renderView(codeView(sms), frame)
    expect(page).toMatch(
      /action="\/mfa\/challenge"><input type="hidden" name="factor" value="sms-1"><button[^>]*>Send the code again/,
    )
    expect(page).toContain('You can request the code again in 30 seconds.')
    expect(page).not.toContain('disabled')
  })

  it('uses the longer wait of challenge and refusal', () => {
    const page = renderView(codeView(sms), { ...frame, message: problem('too_many_messages', 3600) })
    expect(page).toContain('You can request the code again in 60 minutes.')
  })

  it('offers every other factor and a backup code', () => {
    const page = renderView(codeView(sms, { others: FACTORS }), frame)
    expect(page).toContain('name="factor" value="call-1"')
    expect(page).toContain('href="/mfa/verify?factor=app-1"')
    expect(page).toContain('href="/mfa/verify?factor=backup"')
  })

  it('offers in this order: the same code again, another factor, a backup code, the host’s help', () => {
    const page = renderView(codeView(sms, { others: FACTORS }), { ...frame, help: 'Call 0800.' })
    const steps = [
      'Send the code again',
      'You can request the code again in 30 seconds.',
      'Didn’t get the code?',
      'name="factor" value="email-1"',
      'name="factor" value="call-1"',
      'href="/mfa/verify?factor=backup"',
      'Call 0800.',
    ]
    const places = steps.map((step) => page.indexOf(step))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('shows the host’s own help', () => {
    expect(renderView(codeView(sms), { ...frame, help: 'Call 0800 & ask.' })).toContain(
      'Call 0800 &amp; ask.',
    )
  })

  it('has no code field when no code can be entered, but offers to send one', () =>
    everyCase(
      [
        ['exhausted', codeView(sms, { exhausted: true }), 'Get a new code'],
        ['expired', VIEWS['code expired'], 'Get a new code'],
        ['never sent', VIEWS['code never sent'], 'Get your code'],
        [
          'one of another factor',
          codeView(factorOf('call'), { challenge: challengeOf('email') }),
          'Get a new code',
        ],
      ],
      ([_, view, title]) => {
        const page = renderView(view, frame)
        expect(inputOf(page)).toBe('')
        expect(page).toContain(`<h1>${title}</h1>`)
        expect(page).toMatch(/action="\/mfa\/challenge">.*<button class="mfa-primary"/)
      },
    ))

  it('does not count down the code of an app', () => {
    expect(renderView(codeView(factorOf('app')), frame)).not.toContain('The code expires')
  })
})

function challengeOf(method: 'email') {
  return { factor: factorOf(method), delivery: 'sent', expiresAt: NOW + 1000 } as const
}
