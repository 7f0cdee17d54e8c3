import { expect, it } from 'vitest'
import { durationMs } from '../../src/time.js'
import { everyCase } from '../kit/every-case.js'

it('is read as milliseconds', () =>
  everyCase(
    [
      ['90s', 90_000],
      ['5m', 300_000],
      ['12h', 43_200_000],
      ['30d', 2_592_000_000],
      ['0s', 0],
      [300, 300],
      [0, 0],
    ],
    ([text, expected]) => {
      expect(durationMs(text)).toBe(expected)
    },
  ))

it('is refused if it is no duration (R18)', () =>
  everyCase(
    [
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
    ],
    (text) => {
      expect(durationMs(text)).toBeUndefined()
    },
  ))
