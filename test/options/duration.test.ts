import { expect, it } from 'vitest'
import { durationMs } from '../../src/duration.js'

it.each([
  ['90s', 90_000],
  ['5m', 300_000],
  ['12h', 43_200_000],
  ['30d', 2_592_000_000],
  ['0s', 0],
  [300, 300],
  [0, 0],
])('%s is read as %i milliseconds', (text, expected) => {
  expect(durationMs(text)).toBe(expected)
})

it.each([
  '',
  '5',
  'm',
  '-5m',
  '1.5h',
  '5 m',
  '5M',
  '5min',
  ' 5m',
  '5m\n',
  '1e3s',
  '٥m',
  '9999999d',
  -300,
  1.5,
  NaN,
  Infinity,
  null,
  ['5m'],
])('%j is not a duration (R18)', (text) => {
  expect(durationMs(text)).toBeUndefined()
})
