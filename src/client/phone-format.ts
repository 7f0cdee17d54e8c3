import { OptionsError } from '../errors.js'
import { type Contact, isPhone, plainPhone, type UserRequest } from '../protocol/contact.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import type { MfaService } from '../protocol/service.js'

/**
 * Lets contacts have phone numbers as people write them, with a default country also without its code. libphonenumber-js reads and repairs
 * them. A text that is not one phone number fails the call with an `OptionsError`.
 */
export function addPhoneFormat<Service extends MfaService>(
  service: Service,
  country: string | undefined,
): Service {
  const formatted = mapVerbs(service, (name, { body }, call) => async (request?: Partial<UserRequest>) => {
    const contact = request?.contact
    if (body && !isContact(contact)) throw notAContact(name)
    if (!contact || contact.kind === 'email') return call(request)
    return call({ ...request, contact: { ...contact, phone: await e164(contact.phone, country) } })
  })
  return { ...service, ...formatted }
}

function isContact(given: unknown): given is Contact {
  const { kind, email, phone } = Object(given)
  const isText = { email: [email], phone: [phone], dual: [email, phone] }[String(kind)]
  return isText?.every((part) => typeof part === 'string') ?? false
}

function notAContact(name: string): OptionsError {
  return new OptionsError([
    `${name} needs a contact, such as contact: { kind: 'phone', phone: '+447700900123' } or { kind: 'email', email: 'user@example.com' }`,
  ])
}

async function e164(typed: string, country: string | undefined): Promise<string> {
  const phone = plainPhone(typed)
  const isComplete: boolean = isPhone(phone)
  if (isComplete) {
    const library = await loadLibrary().catch(() => undefined)
    const number = library && parseNumber(library, phone)
    // Metadata lag behind the numbers that are in use, so they never refuse one.
    return number?.isValid() ? number.number : phone
  }
  const library = await loadLibrary()
  if (country !== undefined && !library.isSupportedCountry(country)) {
    throw new OptionsError([
      `country must be an ISO code of two capital letters, such as GB (got ${country})`,
    ])
  }
  const number = readTypedNumber(library, phone, country)
  if (number) return number
  const hint = country === undefined && !phone.startsWith('+') ? ', or set the option country' : ''
  // The message must not contain the number (R84).
  throw new OptionsError([
    `A phone number of ${typed.length} characters is not valid: write one number with its country code and without an extension, such as +44 7700 900123${hint}`,
  ])
}

type Library = typeof import('libphonenumber-js')
type Country = import('libphonenumber-js').CountryCode

/** The signs around a number. Other signs could stand for a plus sign, whose loss makes a number of another country. */
const WORDS = '(?:(?!#)[\\p{L}\\p{M}\\p{P}\\p{Extended_Pictographic}])*'
const NUMBER = new RegExp(
  `^(?!.*plus)${WORDS}?(\\+?[(\\d][\\d\\p{Pd}\\u2212\\u30fc\\u2053\\u223c~/.()[\\]]*)${WORDS}$`,
  'iu',
)
const MAX_LENGTH = 100
/** RFC 3966: a number whose country code follows it. */
const CONTEXT = /^tel:([^;]*);phone-context=(\+\d+)$/i

/** The only number in a text, in E.164 format. Digits beside it, as those of an extension, make it none. */
function readTypedNumber(library: Library, phone: string, country: string | undefined): string | undefined {
  if (phone.length > MAX_LENGTH) return undefined
  const [, text = ''] = NUMBER.exec(phone.replace(CONTEXT, '$2$1')) ?? []
  const digits = text.replace(/[^\d+]/g, '')
  // Where another prefix is dialed, no number begins with two zeros.
  const international = country === undefined ? digits : digits.replace(/^00/, '+')
  const number = [digits, international]
    .map((candidate) => parseNumber(library, candidate, country as Country | undefined))
    .find((found) => found?.isPossible())?.number
  return isPhone(number) ? number : undefined
}

function parseNumber(library: Library, text: string, country?: Country) {
  const number = library.parsePhoneNumberFromString(text, {
    extract: false,
    ...(country && { defaultCountry: country }),
  })
  // Prefixes of Mexican mobile phones until 2019, which the metadata have forgotten.
  const repaired = number?.number.replace(/^\+52(?:1|04[45])(?=\d{10}$)/, '+52')
  return repaired === number?.number ? number : library.parsePhoneNumberFromString(String(repaired))
}

async function loadLibrary(): Promise<Library> {
  try {
    return await import('libphonenumber-js')
  } catch (cause) {
    throw Object.assign(
      new OptionsError([
        'Phone numbers that are not in E.164 format, like +447700900123, need the package libphonenumber-js: npm install libphonenumber-js',
      ]),
      { cause },
    )
  }
}
