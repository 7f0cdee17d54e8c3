import { OptionsError } from '../errors.js'
import { type Contact, isPhone, type UserRequest } from '../protocol/contact.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import type { MfaService } from '../protocol/service.js'

/**
 * Lets contacts have phone numbers as people write them, with a default country also without its code. libphonenumber-js is loaded
 * for the first one. A text that is no phone number fails the call with an `OptionsError`.
 */
export function withPhoneFormat<Service extends MfaService>(
  service: Service,
  country: string | undefined,
): Service {
  const formatted = mapVerbs(service, (name, { body }, call) => async (request?: Partial<UserRequest>) => {
    const contact = request?.contact
    if (body && !isContact(contact)) throw notAContact(name)
    if (!contact || contact.kind === 'email' || isPhone(contact.phone)) return call(request)
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

async function e164(phone: string, country: string | undefined): Promise<string> {
  const { isSupportedCountry, parsePhoneNumberFromString } = await loadLibrary()
  if (country !== undefined && !isSupportedCountry(country)) {
    throw new OptionsError([
      `country must be an ISO code of two capital letters, such as GB (got ${country})`,
    ])
  }
  const number = parsePhoneNumberFromString(phone, country)
  if (number?.isPossible()) return number.number
  const hint = country === undefined && !phone.trim().startsWith('+') ? ', or set the option country' : ''
  // The message must not contain the number (R84).
  throw new OptionsError([
    `A phone number of ${phone.length} characters is not valid: write it with its country code, such as +44 7700 900123${hint}`,
  ])
}

async function loadLibrary() {
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
