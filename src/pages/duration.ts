/**
 * A wait as a sentence part: "in 45 seconds", "in 4 minutes", "in 2 hours". Rounded up, so that nobody comes back
 * too early. `mfa.js` words its countdowns by the same steps.
 */
export function inTime(locale: string, seconds: number): string {
  const left = Math.max(1, Math.ceil(seconds))
  const words = new Intl.RelativeTimeFormat(locale)
  if (left <= 90) return words.format(left, 'second')
  const minutes = Math.ceil(left / 60)
  if (minutes <= 90) return words.format(minutes, 'minute')
  const hours = Math.ceil(minutes / 60)
  return hours <= 36 ? words.format(hours, 'hour') : words.format(Math.ceil(hours / 24), 'day')
}
