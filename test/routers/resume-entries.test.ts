import { describe, expect, it } from 'vitest'
import { resumeEntries } from '../../src/web/http/entries.js'
import { everyCase } from '../kit/every-case.js'

const entriesOf = (fields: Record<string, string>, labels = {}, locale = 'en') =>
  resumeEntries({ fields, labels }, locale)

describe('a field that the user checks before a form is sent again', () => {
  it('has a label in words', () =>
    everyCase(
      [
        ['amount', 'Amount'],
        ['recipientName', 'Recipient name'],
        ['recipient_name', 'Recipient name'],
        ['recipient-name', 'Recipient name'],
        ['recipient[name]', 'Recipient name'],
        ['recipient.name', 'Recipient name'],
        ['recipientIBAN', 'Recipient IBAN'],
        ['address2', 'Address2'],
        ['---', '---'],
      ],
      ([name, label]) => {
        expect(entriesOf({ [name]: 'x' })).toEqual([{ label, value: 'x' }])
      },
    ))

  it('never shows its value if its name is that of a secret', () =>
    everyCase(
      [
        'password',
        'newPassword',
        'current_password',
        'pin',
        'card[cvc]',
        'otp',
        'apiToken',
        'csrfToken',
        'API-Key',
        'pw',
      ],
      (name) => {
        expect(entriesOf({ [name]: 'hunter2' }, { [name]: 'Yours' })).toEqual([{ label: 'Yours' }])
        expect(JSON.stringify(entriesOf({ [name]: 'hunter2' }))).not.toContain('hunter2')
      },
    ))

  it('shows its value if its name only resembles that of a secret', () =>
    everyCase(['shipping', 'passenger', 'spinning', 'postcode', 'tangent'], (name) => {
      expect(entriesOf({ [name]: 'x' })).toMatchObject([{ value: 'x' }])
    }))

  it('is left out if only programs read it', () => {
    expect(entriesOf({ _csrf: 'abc', draft: '7' }, { draft: false })).toEqual([])
    expect(entriesOf({ _note: 'x' }, { _note: 'Note' })).toEqual([{ label: 'Note', value: 'x' }])
  })

  it('has a label in the language of the page', () =>
    everyCase(
      [
        ['de', 'Betrag'],
        ['de-ch', 'Betrag'],
        ['en', 'Sum'],
        ['fr', 'Sum'],
      ],
      ([locale, label]) => {
        expect(entriesOf({ amount: '1' }, { amount: { en: 'Sum', DE: 'Betrag' } }, locale)).toEqual([
          { label, value: '1' },
        ])
      },
    ))

  it('has the first given label if none is in the language of the page', () => {
    expect(entriesOf({ amount: '1' }, { amount: { nl: 'Bedrag' } }, 'fr')).toEqual([
      { label: 'Bedrag', value: '1' },
    ])
  })
})
