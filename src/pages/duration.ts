import { memoize } from '../protocol/language.js'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const lengths = memoize((unit: (typeof UNITS)[number][0]) =>
  memoize((locale: string) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })),
)
const dates = memoize(
  (locale: string) => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
)
const relativeDays = memoize((locale: string) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
const relativeTimes = memoize((locale: string) => {
  const format = new Intl.RelativeTimeFormat(locale)
  const createFormat = (unit: Intl.RelativeTimeFormatUnit) =>
    memoize((value: number) => removeSpaces(locale, format.format(value, unit)))
  return {
    second: createFormat('second'),
    minute: createFormat('minute'),
    hour: createFormat('hour'),
    day: createFormat('day'),
  }
})

/** A date: "March 1, 2027". In UTC, since the time zone of the user is unknown. */
export function formatDate(locale: string, at: number): string {
  return dates(locale).format(at)
}

// Up to here, `formatWait` counts hours. A page that says both says "24 hours" twice, and not "1 day" once.
const HOURS_UP_TO_MS = 36 * 3_600_000

/** Words a duration in a language. */
export function formatLength(locale: string, ms: number): string {
  const fits = ([unit, size]: (typeof UNITS)[number]) =>
    ms % size === 0 && (unit !== 'day' || ms > HOURS_UP_TO_MS)
  const [unit, size] = UNITS.find(fits) ?? ['minute', 60_000]
  return removeSpaces(locale, lengths(unit)(locale).format(Math.round(ms / size)))
}

/** A past time in words, in units of 24 hours: "today", "yesterday", "3 days ago". */
export function formatDaysAgo(locale: string, ms: number): string {
  const days = Math.max(0, Math.floor(ms / 86_400_000))
  return removeSpaces(locale, relativeDays(locale).format(-days, 'day'))
}

/** A future time, rounded up: "in 45 seconds", "in 4 minutes". `mfa.js` counts down in the same units. */
export function formatWait(locale: string, seconds: number): string {
  const left = Math.max(1, Math.ceil(seconds))
  const words = relativeTimes(locale)
  if (left <= 90) return words.second(left)
  const minutes = Math.ceil(left / 60)
  if (minutes <= 90) return words.minute(minutes)
  const hours = Math.ceil(minutes / 60)
  return hours * 3_600_000 <= HOURS_UP_TO_MS ? words.hour(hours) : words.day(Math.ceil(hours / 24))
}

/** Japanese text has no spaces, also not beside the numbers that `Intl` formats. */
function removeSpaces(locale: string, text: string): string {
  return locale === 'ja' ? text.replaceAll(' ', '') : text
}
