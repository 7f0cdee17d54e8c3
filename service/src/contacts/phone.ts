import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'

// Numbers that cost the sender extra or belong to a switchboard: targets of SMS pumping, not of users who sign in.
const REFUSED_TYPES = new Set(['PREMIUM_RATE', 'TOLL_FREE', 'SHARED_COST', 'UAN', 'PAGER', 'VOICEMAIL'])

// Reserved by Ofcom for drama and examples: never assigned, therefore unknown to the metadata, and harmless.
const FICTIONAL = /^\+44(7700900|2079460|1632960)\d{3}$/

/**
 * Whether a phone number can be assigned and messages to it are allowed. `phone` is in E.164 form; `countries` are the
 * ISO codes of the countries that are served, and an empty list serves all.
 */
export function isAllowedPhone(phone: string, countries: readonly string[] = []): boolean {
  if (FICTIONAL.test(phone)) return countries.length === 0 || countries.includes('GB')
  const parsed = parsePhoneNumberFromString(phone, { extract: false })
  if (!parsed?.isValid() || parsed.number !== phone) return false
  if (countries.length > 0 && !countries.includes(parsed.country ?? '')) return false
  return !REFUSED_TYPES.has(parsed.getType() ?? '')
}

/** Whether a text is the ISO 3166 code of a country with phone numbers. */
export function isCountry(code: string): boolean {
  return isSupportedCountry(code)
}
