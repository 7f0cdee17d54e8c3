import { expect, it } from 'vitest'
import { sendBody } from '../../src/protocol/wire.js'

const purposeOf = (Purpose: unknown) =>
  sendBody.safeParse({ User: 'ann@example.com', Type: 'EMAIL', Purpose }).data?.Purpose

it('takes the purpose of an enrollment as clients of release 0.1 spell it, too', () => {
  expect(purposeOf('enrollment')).toBe('enrollment')
  expect(purposeOf('enrolment')).toBe('enrollment')
  expect(purposeOf('step-up')).toBe('step-up')
  expect(purposeOf('enroll')).toBeUndefined()
})
