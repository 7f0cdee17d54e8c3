const DAY_SECONDS = 86_400

/**
 * The wait that a header `Retry-After` asks for, in whole seconds; `undefined` when it names none. RFC 9110 §10.2.3:
 * seconds, or a date. No lock lasts longer than a day.
 */
export function readRetryAfter(header: string): number | undefined {
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header)
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), DAY_SECONDS)
}

function secondsUntil(date: string): number | undefined {
  // `Date.parse` takes almost anything with a digit in it for a date; HTTP dates begin with a weekday.
  const time = /^[A-Z][a-z]{2,8},? /.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.ceil((time - Date.now()) / 1000)
}
