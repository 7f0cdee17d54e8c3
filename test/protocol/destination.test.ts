import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maskContact } from '../../src/protocol/index.js'

it('a number is shown by its last two digits (R46)', () => {
  expect(maskContact({ kind: 'phone', phone: '+447700900123' })).toBe('••• 23')
})

it('a mailbox is shown by the first letters of itself and its domain (R46)', () => {
  expect(maskContact({ kind: 'email', email: 'alice@example.com' })).toBe('a•••@e•••')
})

it('DUAL is shown by both (R46)', () => {
  const contact = { kind: 'dual', email: 'dora@example.com', phone: '+447700900104' } as const
  expect(maskContact(contact)).toBe('d•••@e••• + ••• 04')
})

it('no number shows more than two of its digits, nor how long it is (R46)', () => {
  const phones = fc.stringMatching(/^\+[1-9]\d{6,14}$/)
  fc.assert(
    fc.property(phones, (phone) => {
      const mask = maskContact({ kind: 'phone', phone })
      expect(mask.replace(/\D/g, '')).toBe(phone.slice(-2))
      expect(mask).toHaveLength(6)
    }),
  )
})

it('masks tell nothing of how long a mailbox is (R46)', () => {
  const short = maskContact({ kind: 'email', email: 'a@e.co' })
  expect(maskContact({ kind: 'email', email: 'annabelle.longname@example-company.museum' })).toBe(short)
})
