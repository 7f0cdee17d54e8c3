const DAY_SECONDS = 86_400

/** The wait in a `Retry-After` header, in seconds from 1 to a day, from seconds or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(header: string): number | undefined {
  const seconds = /^\d+$/.test(header) ? Number(header) : countSecondsUntil(header)
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, 1), DAY_SECONDS)
}

function countSecondsUntil(date: string): number | undefined {
  // `Date.parse` accepts almost anything that contains a digit; HTTP dates begin with a weekday.
  const time = /^[A-Z][a-z]{2,8},? /.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.ceil((time - Date.now()) / 1000)
}
