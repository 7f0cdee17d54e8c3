import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maskContact } from '../../src/protocol/index.js'
import { maskForOwner } from '../../src/protocol/masked-contact.js'
import { everyCase } from '../kit/every-case.js'

it('masks a phone number except its last two digits (R46)', () => {
  expect(maskContact({ kind: 'phone', phone: '+447700900123' })).toBe('••• 23')
})

it('masks an email address except the first letters of it and of its domain (R46)', () => {
  expect(maskContact({ kind: 'email', email: 'alice@example.com' })).toBe('a•••@e•••')
})

it('masks both contacts of DUAL (R46)', () => {
  const contact = { kind: 'dual', email: 'dora@example.com', phone: '+447700900104' } as const
  expect(maskContact(contact)).toBe('d•••@e••• + ••• 04')
})

it('reveals neither more than two digits of a number nor its length (R46)', () => {
  const phones = fc.stringMatching(/^\+[1-9]\d{6,14}$/)
  fc.assert(
    fc.property(phones, (phone) => {
      const mask = maskContact({ kind: 'phone', phone })
      expect(mask.replace(/\D/g, '')).toBe(phone.slice(-2))
      expect(mask).toHaveLength(6)
    }),
  )
})

it('shows the owner enough to know which mailbox it is (R46)', () =>
  everyCase(
    [
      ['bob@vault.example', 'b…b@vault.example'],
      ['alexander.grahambell@example.com', 'a…l@example.com'],
      ['al@example.com', 'a…@example.com'],
      ['a@example.com', 'a…@example.com'],
    ],
    ([email, shown]) => {
      expect(maskForOwner({ kind: 'email', email })).toBe(shown)
      const dual = { kind: 'dual', email, phone: '+447700900104' } as const
      expect(maskForOwner(dual)).toBe(`${shown} + ••• 04`)
    },
  ))

it('shows the owner nothing of the name of an account without a contact', () => {
  expect(maskForOwner({ kind: 'email', email: 'u-7@account.invalid' })).toBe('')
})

it('does not reveal the length of an email address (R46)', () => {
  const short = maskContact({ kind: 'email', email: 'a@e.co' })
  expect(maskContact({ kind: 'email', email: 'annabelle.longname@example-company.museum' })).toBe(short)
})
