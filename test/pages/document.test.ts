import { describe, expect, it } from 'vitest'
import { assets } from '../../src/pages/layout.js'
import type { Catalogue } from '../../src/pages/locales/catalogue.js'
import { en } from '../../src/pages/locales/en.js'
import { renderView } from '../../src/pages/render.js'
import { catalogues } from '../../src/pages/text.js'
import type { PageFrame, PageMessage } from '../../src/pages/view.js'
import { failureOfFault, KEY_FAULTS } from '../../src/protocol/keys.js'
import { languageTag } from '../../src/protocol/language.js'
import { everyCase } from '../kit/every-case.js'
import {
  ALL_VIEWS,
  codeView,
  factorOf,
  frame,
  keyPageOf,
  manyTongued,
  OTHER_STATES,
  problem,
  VIEWS,
} from './samples.js'

const PURPOSES: readonly PageFrame['purpose'][] = ['sign-in', 'step-up', 'manage']
const PROBLEMS = Object.keys(en.problems) as (keyof Catalogue['problems'])[]
const SUCCESSES = Object.keys(en.success) as (keyof Catalogue['success'])[]
const LANGUAGES = [...catalogues].map(([key, load]) => ({ tag: languageTag(key), words: load() }))

/** The text that the user reads below the head, without the parts that only the script shows. */
function textOf(page: string): string {
  return page
    .replaceAll(/<head>[\s\S]*<\/head>|<template[\s\S]*?<\/template>/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

/** A phrase of a catalogue as a page shows it, with some text for each placeholder. */
function shown(phrase: string): RegExp {
  const parts = phrase.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(parts.join('[^<]{1,40}'), 'u')
}

const headingOf = (page: string) => /<h1>([\s\S]*?)<\/h1>/.exec(page)?.[1] ?? ''
const titleOf = (page: string) => /<title>(.*)<\/title>/.exec(page)?.[1]

describe('a page in every language', () => {
  it('is a whole document with the title of the page in its heading and its head', () => {
    for (const { tag, words } of LANGUAGES) {
      for (const [name, view] of ALL_VIEWS) {
        for (const purpose of PURPOSES) {
          const page = renderView(view, { ...frame, purpose, locales: [tag] })
          const where = `${name} in ${tag} for ${purpose}`
          // A countdown has its phrases beside it, for the script to fill.
          expect(page.replaceAll(/ data-mfa-text="[^"]*"/g, ''), where).not.toMatch(
            /\{\w+\}|undefined|\[object|NaN/,
          )
          expect(page, where).toContain(`<!doctype html>\n<html lang="${tag}" dir="${words.dir}">`)
          expect(page.match(/<main /g), where).toHaveLength(1)
          expect(page.match(/<h1>/g), where).toHaveLength(1)
          expect(headingOf(page).trim(), where).not.toBe('')
          expect(titleOf(page), where).toContain(headingOf(page).replaceAll(/<[^>]*>/g, ''))
          expect(titleOf(page), where).not.toContain('<')
          expect(titleOf(page), where).toContain('Vault')
        }
      }
    }
    expect(LANGUAGES).toHaveLength(14)
    expect(LANGUAGES.filter(({ words }) => words.dir === 'rtl').map(({ tag }) => tag)).toEqual(['ar'])
  })

  it('shows each problem with its title and its advice, above a form and as a page of its own', () => {
    for (const { tag, words } of LANGUAGES) {
      for (const code of PROBLEMS) {
        const { title, advice } = words.problems[code]
        const message = problem(code, 90)
        const framed = { ...frame, locales: [tag] }
        const above = textOf(renderView(codeView(factorOf('sms')), { ...framed, message }))
        expect(above, `${code} in ${tag}`).toMatch(shown(title))
        expect(above, `${code} in ${tag}`).toMatch(shown(advice))
        const alone = renderView({ page: 'stop', message, next: 'retry' }, framed)
        expect(headingOf(alone), `${code} in ${tag}`).toMatch(shown(title))
        expect(textOf(alone), `${code} in ${tag}`).toMatch(shown(advice))
      }
    }
  })

  it('shows each success, above a form and as a page of its own', () => {
    for (const { tag, words } of LANGUAGES) {
      for (const code of SUCCESSES) {
        const message: PageMessage = { tone: 'success', code }
        const framed = { ...frame, locales: [tag] }
        const above = textOf(renderView(codeView(factorOf('sms')), { ...framed, message }))
        expect(above, `${code} in ${tag}`).toContain(words.success[code])
        const alone = renderView({ page: 'stop', message, next: 'retry' }, framed)
        expect(textOf(`<h1>${headingOf(alone)}</h1>`), `${code} in ${tag}`).toBe(words.success[code])
      }
    }
  })

  it('says how many attempts are left, also after a key that was refused', () => {
    const messages: readonly PageMessage[] = [
      { tone: 'error', code: 'invalid_code', attemptsLeft: 3, retryAfterSeconds: 0 },
      { tone: 'error', code: 'invalid_key', fault: 'signature', attemptsLeft: 3 },
    ]
    for (const { tag, words } of LANGUAGES) {
      const phrase = words.attemptsLeft[new Intl.PluralRules(tag).select(3)] ?? words.attemptsLeft.other
      const count = new Intl.NumberFormat(tag).format(3)
      for (const message of messages) {
        const page = textOf(renderView(codeView(factorOf('sms')), { ...frame, message, locales: [tag] }))
        expect(page, tag).toContain(phrase.replace('{count}', count))
      }
    }
  })

  it('offers every language by its own name, and marks the current one', () => {
    const tags = LANGUAGES.map(({ tag }) => tag)
    for (const { tag, words } of LANGUAGES) {
      const page = renderView(VIEWS['choose from nothing'], { ...manyTongued, locales: [tag] })
      const buttons = [...page.matchAll(/<button [^>]*name="language" value="([^"]*)"([^>]*)>([^<]+)</g)]
      expect(buttons.map(([, value]) => value).toSorted(), tag).toEqual(tags.toSorted())
      expect(
        buttons.filter(([, , attributes]) => attributes?.includes('aria-current')).map(([, value]) => value),
      ).toEqual([tag])
      for (const [, value = '', , name = ''] of buttons) {
        const own = new Intl.DisplayNames([value], { type: 'language' }).of(value) ?? ''
        expect(name.toLocaleLowerCase(value)).toBe(own.toLocaleLowerCase(value))
      }
      expect(textOf(page), tag).toContain(words.language)
    }
  })
})

describe('a fault of a key', () => {
  it('is explained in words, with the attempts that are left', () => {
    for (const fault of KEY_FAULTS) {
      const message = { tone: 'error', code: 'invalid_key', fault, attemptsLeft: 2 } as const
      const page = renderView(keyPageOf('passkey'), { ...frame, message })
      const { title } = en.keys.failures[failureOfFault(fault)]
      expect(textOf(page), fault).toContain(title)
      expect(textOf(page), fault).toContain('You have 2 attempts left.')
    }
  })
})

describe('a page under a strict content security policy', () => {
  it('has no inline script or style, and loads the script for keys only for them', () => {
    for (const [name, view] of ALL_VIEWS) {
      const page = renderView(view, frame)
      expect(page, name).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|<base|<iframe/i)
      const usesKeys = ['keys', 'key-offer'].includes(view.page) || (view.page === 'key' && !view.exhausted)
      const scripts = usesKeys ? (['mfa.js', 'mfa-keys.js'] as const) : (['mfa.js'] as const)
      expect(page.match(/<script[^>]*>[^<]*/g), name).toEqual(
        scripts.map(
          (script) => `<script type="module" src="/mfa/assets/${script}?v=${assets[script].version}">`,
        ),
      )
      for (const [, address] of page.matchAll(/\s(?:src|href|action)="([^"]*)"/g)) {
        expect(address, name).toMatch(/^(\/|data:|otpauth:)/)
      }
    }
  })

  it('links the style sheet with its version, and the host’s own after it', () => {
    const page = renderView({ page: 'enrolled', backup: true }, { ...frame, stylesheet: '/brand.css' })
    const sheets = [...page.matchAll(/<link rel="stylesheet" href="([^"]*)">/g)].map(([, address]) => address)
    expect(sheets).toEqual([`/mfa/assets/mfa.css?v=${assets['mfa.css'].version}`, '/brand.css'])
  })
})

describe('the title of the document', () => {
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
    const message = { tone: 'success', code: 'code_sent_again' } as const
    expect(titleOf(renderView(codeView(factorOf('sms')), { ...frame, message }))).not.toContain('Error')
  })
})

describe('a page that asks for an approval', () => {
  const approval = OTHER_STATES.filter(([, , { approval: asked }]) => asked)

  it('has the act and its value as the heading, and every other field whole before the code (R121, R123, R146)', () =>
    everyCase(approval, ([, view, more]) => {
      const page = renderView(view, { ...frame, ...more })
      const [act, ...others] = more.approval?.lines ?? []
      const headings = [...page.matchAll(/<h1>(.*?)<\/h1>/g)].map(([, text = '']) =>
        text.replace(/<[^>]+>/g, ''),
      )
      expect(headings).toEqual([`${act?.label} ${act?.value}`])
      const firstForm = page.indexOf('<form')
      for (const { label, value } of others) {
        const at = page.indexOf(`<dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd>`)
        expect(at).toBeGreaterThan(page.indexOf('</h1>'))
        expect(at).toBeLessThan(firstForm)
      }
      // A title goes into the history of the browser.
      expect(titleOf(page)).not.toContain('250')
    }))
})

describe('the ways out', () => {
  const choose = VIEWS['choose from nothing']

  it('let the user cancel a pending login, and say when it ends', () => {
    const page = renderView(choose, frame)
    expect(page).toContain('<form method="post" action="/mfa/cancel">')
    expect(page).toContain('This sign‑in expires in 9 minutes.')
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
