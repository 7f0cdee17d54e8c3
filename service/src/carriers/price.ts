/** What a carrier says that a message costs, as a number without sign and trailing zeros; `undefined` when it is none. */
export function priceFrom(given: unknown): string | undefined {
  const text = typeof given === 'number' ? String(given) : given
  const [, amount] = typeof text === 'string' ? (/^-?(\d{1,6}(?:\.\d{1,8})?)$/.exec(text) ?? []) : []
  return amount?.includes('.') ? amount.replace(/\.?0+$/, '') : amount
}
