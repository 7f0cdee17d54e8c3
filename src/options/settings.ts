import { OptionsError } from '../errors.js'
import { readObject } from '../json.js'
import { hasParts, optionFaults } from '../option-rules.js'
import { languageKey } from '../protocol/language.js'
import type { MfaService } from '../protocol/service.js'
import { pickGiven } from '../shape.js'
import { type CompleteOptions, optionsSchema } from './options.js'
import { type ServiceSettings, serviceAddress } from './service.js'

/** The complete options, as our own code reads them: each under its public name and group. */
export type Settings = Readonly<ReturnType<typeof createSettings>>

function createSettings(options: CompleteOptions, service: MfaService | ServiceSettings) {
  const { factors = () => [], ...others } = options
  return { ...others, factors, service }
}

/** A service that can be used, or what is wrong with the option. */
type ReadService = { readonly service: Settings['service'] } | { readonly faults: readonly string[] }

/** Checks the options and fills in defaults. `own`: the service of an app that names none. @throws {OptionsError} */
export function readOptions(given: unknown, own?: ReadService): Settings {
  if (hasParts(given)) {
    throw new OptionsError([
      'createMfa was given a copy of what createMfa returned, which are no options: pass the options, or what it returned itself',
    ])
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new OptionsError(['the options must be an object, such as { appName: "My shop" }'])
  }
  const { service, ...rest } = readObject(given)
  const theirs = own ?? readService(service)
  const ours = optionsSchema.safeParse(pickGiven(rest))
  const faults = [
    ...('faults' in theirs ? theirs.faults : []),
    ...(ours.success ? combinationFaults(ours.data) : optionFaults(ours.error, optionsSchema)),
    ...(ours.success && 'service' in theirs ? serviceFaults(ours.data, theirs.service) : []),
  ]
  if (!ours.success || 'faults' in theirs || faults.length > 0) throw new OptionsError(faults)
  return createSettings(ours.data, theirs.service)
}

/** The faults that exist only in combination. */
function combinationFaults(given: CompleteOptions): string[] {
  const { urls, trustedDevices, notices, recovery, recordedFactors, onFactorsChanged } = given
  const { publicUrl, path, pathPrefix } = urls
  const hasStore = trustedDevices || notices.store || recovery?.store
  return listFaults(
    publicUrl &&
      !hasStore &&
      'urls.publicUrl adds links to notices, which need a store: give notices.store or trustedDevices',
    notices.newBrowser &&
      (!notices.onNotice || !hasStore) &&
      'notices.newBrowser needs notices.onNotice, and a store: give notices.store or trustedDevices',
    recordedFactors &&
      !onFactorsChanged &&
      'recordedFactors reads a record that nothing writes: give onFactorsChanged as well',
    onFactorsChanged &&
      !recordedFactors &&
      'onFactorsChanged writes a record that nothing reads: give recordedFactors, which returns it',
    given.login.noDowngrade &&
      given.keys === false &&
      'login.noDowngrade signs users who have a key in with it only, and keys: false turns keys off: leave out one of them',
    recovery &&
      !publicUrl &&
      'recovery adds links to notices: give urls.publicUrl, the https address of the app',
    recovery && !hasStore && 'recovery needs a store: give recovery.store, notices.store or trustedDevices',
    !path.startsWith(`${pathPrefix}/`) &&
      `urls.path must be the path that a browser sees, which begins with pathPrefix: ${pathPrefix}${path}`,
    ...languageFaults(given),
  )
}

/** The faults that there are. */
function listFaults(...faults: readonly (string | false | undefined)[]): string[] {
  return faults.filter((fault): fault is string => Boolean(fault))
}

/** Users whose factors neither the host nor the service can name would sign in without one (R131). */
function serviceFaults(
  { apps, factors, keys, onFactorsChanged, recovery }: CompleteOptions,
  service: Settings['service'],
): string[] {
  const tells = tellsFactors(service)
  if (!factors && !apps && (keys === false || !tells)) {
    return [
      'factors is missing, and without authenticator apps and keys there is no second factor: give factors',
    ]
  }
  const removes = 'baseUrl' in service ? tells : service.removeFactor !== undefined
  const recoveryFault =
    recovery &&
    !apps &&
    !removes &&
    'recovery needs a service with the function removeFactor, which removes an app that a reset ended, or apps, of which a new one replaces it: implement removeFactor, or leave out apps: false'
  if (tells) return listFaults(recoveryFault)
  return listFaults(
    recoveryFault,
    apps &&
      !onFactorsChanged &&
      'onFactorsChanged is missing, and the MFA service cannot tell which users have an authenticator app, so an enrolled app would never be asked for: give onFactorsChanged, and return from recordedFactors what it was given, or offer no apps with apps: false',
    keys &&
      'keys must be off: the MFA service cannot tell which users have a security key or passkey, so keys would not be asked for',
  )
}

/** Whether the service says which factors an account has. */
function tellsFactors(service: Settings['service']): boolean {
  if (!('baseUrl' in service)) return service.factorsOf !== undefined
  return service.dialect === 'detect' || service.dialect.extras
}

function languageFaults({ languages }: CompleteOptions): string[] {
  const { offer, remember, locale, texts } = languages
  if (!offer) {
    return listFaults(
      remember && 'languages.remember saves a choice that no page offers: give languages.offer as well',
    )
  }
  const unknown = offer.filter((tag) => !texts.has(languageKey(tag)))
  return listFaults(
    ...unknown.map(
      (tag) =>
        `languages.offer contains ${tag}, which the pages are not available in; give its texts in languages.texts`,
    ),
    new Set(offer.map(languageKey)).size < offer.length && 'languages.offer contains a language twice',
    remember &&
      !locale &&
      'languages.remember saves the choice, but nothing reads it: give languages.locale as well',
  )
}

/** The functions that a service of the host's own must have. The routers require other functions when they are mounted. */
const VERBS = ['send', 'verify'] as const

/** Checks the address of a service and fills in every default. @throws {OptionsError} with all faults. */
export function readServiceAddress(given: unknown): ServiceSettings {
  if (hasParts(given)) {
    throw new OptionsError([
      'The client was given what createMfa returned, which is no address: use mfa.client, or pass { baseUrl, apiKey }',
    ])
  }
  const address = serviceAddress.safeParse(pickGiven(readObject(given)))
  if (address.success) return address.data
  throw new OptionsError(optionFaults(address.error, serviceAddress))
}

/** The option `service`: an object that implements a service, or the address of one. */
function readService(given: unknown): ReadService {
  const object = typeof given === 'object' && given !== null ? given : {}
  const missing = VERBS.filter((verb) => typeof Reflect.get(object, verb) !== 'function')
  if (missing.length === 0) return { service: given as MfaService }
  if (missing.length < VERBS.length) {
    return {
      faults: [`service must have the functions ${VERBS.join(', ')}; it lacks ${missing.join(' and ')}`],
    }
  }
  if (given !== undefined && object !== given) {
    return { faults: ['service must be { baseUrl, apiKey } or an object that implements MfaService'] }
  }
  const address = serviceAddress.safeParse(pickGiven(readObject(object)))
  return address.success
    ? { service: address.data }
    : { faults: optionFaults(address.error, serviceAddress, ['service']) }
}
