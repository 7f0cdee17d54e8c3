import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'

// Numbers that cost the sender extra, or that ring a switchboard nobody signs in from (message pumping).
const COSTLY = new Set(['PREMIUM_RATE', 'TOLL_FREE', 'SHARED_COST', 'UAN', 'PAGER', 'VOICEMAIL'])

// Kept free by Ofcom for films and examples: never in use, therefore unknown to the metadata, and harmless.
const FICTIONAL = /^\+44(7700900|2079460|1632960)\d{3}$/

/**
 * Whether a telephone number is in use and may be sent to. `phone` is in E.164 form; `countries` are the ISO codes
 * of those that are served, without any all of them.
 */
export function mayBeCalled(phone: string, countries: readonly string[] = []): boolean {
  if (FICTIONAL.test(phone)) return countries.length === 0 || countries.includes('GB')
  const parsed = parsePhoneNumberFromString(phone, { extract: false })
  if (!parsed?.isValid() || parsed.number !== phone) return false
  if (countries.length > 0 && !countries.includes(parsed.country ?? '')) return false
  return !COSTLY.has(parsed.getType() ?? '')
}

/** Whether a text is the ISO 3166 code of a country that has telephone numbers. */
export function isCountry(code: string): boolean {
  return isSupportedCountry(code)
}
