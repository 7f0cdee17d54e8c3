/** The beginning of a day in UTC, or of the day after it; `undefined` unless the text is `YYYY-MM-DD`. */
export function dayOf(text: string, later: 0 | 1): number | undefined {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(day) ? undefined : day + later * 86_400_000
}
