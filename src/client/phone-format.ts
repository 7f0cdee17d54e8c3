import { OptionsError } from '../errors.js'
import type { Contact } from '../protocol/contact.js'
import type { MfaService } from '../protocol/service.js'
import { mapVerbs } from '../protocol/verbs.js'

const E164 = /^\+[1-9]\d{6,14}$/

/**
 * Wraps the service so that contacts may have phone numbers as people write them, such as `+44 7700 900123` and, with a default
 * country, `07700 900123`. libphonenumber-js is loaded for the first number that is not E.164 already. A text that is no phone
 * number fails the call with an `OptionsError`.
 */
export function withPhoneFormat<Service extends MfaService>(
  service: Service,
  country: string | undefined,
): Service {
  const formatted = mapVerbs(service, (_name, _verb, call) => async (request?: WithContact) => {
    const contact = request?.contact
    return call(contact ? { ...request, contact: await inE164(contact, country) } : request)
  })
  return { ...service, ...formatted }
}

interface WithContact {
  readonly contact?: Contact
}

async function inE164(contact: Contact, country: string | undefined): Promise<Contact> {
  if (contact.kind === 'email' || E164.test(contact.phone)) return contact
  return { ...contact, phone: await e164(contact.phone, country) }
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
