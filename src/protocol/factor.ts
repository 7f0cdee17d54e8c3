import { isObject, readObject } from '../json.js'
import {
  accountAddress,
  type Contact,
  canonicalUser,
  foldContact,
  isEmail,
  isPhone,
  plainPhone,
} from './contact.js'
import { type CodeMethod, type KeyMethod, METHODS, type Method } from './methods.js'

/** A second factor of a user, as the option `factors` returns it. */
export type FactorInput = {
  /** Identifies the factor in URLs and JSON. Defaults to the method, with a number from the second one on (`sms-2`). */
  readonly id?: string
  /** The user's name for it, for example "Work phone". Pages show it, and JSON responses contain it. */
  readonly label?: string
  /** Your page on which the user changes or removes the factor, a path on your site. The factor page links to it. */
  readonly manageUrl?: string
} & (
  | { readonly method: 'email'; readonly email: string }
  | { readonly method: 'sms' | 'whatsapp' | 'call'; readonly phone: string }
  /** `user`: the email address or phone number under which the service knows the authenticator app, or the user's keys. */
  | { readonly method: 'app' | KeyMethod; readonly user: string }
  | { readonly method: 'dual'; readonly email: string; readonly phone: string }
)

/** A validated factor with its id. */
export interface Factor {
  readonly id: string
  readonly method: Method
  readonly contact: Contact
  readonly label?: string
  readonly manageUrl?: string
  /** How many digits the codes of an authenticator app have, if the service said so in this request. */
  readonly digits?: number
  /** Set if the contact that the host lists cannot be used, so that the factor is withheld (R153). `contact` then reaches nobody. */
  readonly unusable?: {
    /** The contact as the host lists it. */
    readonly listed: string
    /** The fault, without the contact. */
    readonly faults: readonly string[]
  }
}

/** A factor of a user, as `policy` and `login.evidence` see it. */
export interface LoginFactor {
  readonly id: string
  readonly method: Method
  /** Present for a factor that exists and cannot be used now, because its method is switched off, for example. */
  readonly withheld?: true
}

/** Which factors a user has beside the contacts that `factors` lists, as the host's record keeps it. */
export interface RecordedFactors {
  /** Whether the user has an authenticator app. */
  readonly app: boolean
  /** Whether the user has a security key or passkey. */
  readonly keys: boolean
  /** Whether backup codes are left. */
  readonly backupCodes: boolean
}

/** A property of a factor, and what its value must be. */
interface Property {
  readonly name: string
  readonly must: string
  fits(value: unknown): boolean
}

const email: Property = {
  name: 'email',
  must: 'must be an email address like name@example.com, of at most 254 characters',
  fits: isEmail,
}
const phone: Property = {
  name: 'phone',
  must: 'must be a phone number in E.164 format, like +447700900123',
  fits: isTypedPhone,
}
const user: Property = {
  name: 'user',
  must: 'must be an email address or a phone number in E.164 format',
  fits: (value) => isEmail(value) || isTypedPhone(value),
}

/** The properties that a factor of each method must have. They are checked at many requests, so without a schema library. */
const REQUIRED: Readonly<Record<Method, readonly Property[]>> = {
  email: [email],
  sms: [phone],
  whatsapp: [phone],
  call: [phone],
  dual: [email, phone],
  app: [user],
  'security-key': [user],
  passkey: [user],
}

const OPTIONAL: readonly Property[] = [
  {
    name: 'id',
    must: 'must be 1 to 32 lower-case letters, digits, - or _, and must not be "backup" or "bypass", which stand for the codes of that name',
    fits: (value) =>
      isText(value) && /^[a-z0-9][a-z0-9_-]{0,31}$/.test(value) && value !== 'backup' && value !== 'bypass',
  },
  {
    name: 'label',
    must: 'must be text of at most 60 characters',
    fits: (value) => isText(value) && value.length <= 60,
  },
  {
    name: 'manageUrl',
    must: 'must be a path on this site, like /account/phone, of at most 500 characters',
    fits: (value) => isText(value) && value.length <= 500 && /^\/(?![/\\])[\x21-\x7e]*$/.test(value),
  },
]

const MOST_FACTORS = 20
const ONE_OF_METHODS = `method must be one of ${METHODS.join(', ')}`

/**
 * Validates the host's list of factors (R42) and gives each an id. `faults` quotes no contact. A contact that cannot be used is no fault
 * of the list: the user may have other factors (R153).
 */
export function readFactors(list: unknown): { factors: readonly Factor[] } | { faults: readonly string[] } {
  if (!Array.isArray(list)) {
    return {
      faults: [`it is ${list === null ? 'null' : typeof list}, and must be a list: [] without factors`],
    }
  }
  if (list.length > MOST_FACTORS) return { faults: [`it must have at most ${MOST_FACTORS} factors`] }
  const faults = list.flatMap(findFaults)
  if (faults.length > 0) return { faults }
  const named = new Map<string, Factor>()
  const count = new Map<Method, number>()
  const contacts = new Set<string>()
  for (const [index, input] of (list as readonly FactorInput[]).entries()) {
    const nth = (count.get(input.method) ?? 0) + 1
    count.set(input.method, nth)
    const id = input.id ?? (nth === 1 ? input.method : `${input.method}-${nth}`)
    if (named.has(id)) return { faults: [`two factors have the id "${id}"; give each factor a unique id`] }
    const unusable = findUnusable(input, index)
    const contact = unusable ? accountAddress(`unusable ${unusable.listed}`) : readContact(input)
    const same = `${input.method} ${canonicalUser(contact)}`
    if (contacts.has(same)) continue
    contacts.add(same)
    named.set(id, {
      id,
      method: input.method,
      contact,
      ...(input.label && { label: input.label }),
      ...(input.manageUrl && { manageUrl: input.manageUrl }),
      ...(unusable && { unusable }),
    })
  }
  return { factors: [...named.values()] }
}

/** The faults of the factor at this place in the list. */
function findFaults(input: unknown, index: number): string[] {
  if (!isObject(input)) return [`[${index}] ${ONE_OF_METHODS}`]
  const { method } = input
  if (method === undefined) return [`[${index}.method] is missing: ${ONE_OF_METHODS}`]
  if (!isMethod(method)) return [`[${index}.method] ${ONE_OF_METHODS}`]
  const faults: string[] = []
  for (const { name, must } of REQUIRED[method]) {
    const value = input[name]
    if (value === undefined) faults.push(`[${index}.${name}] is missing: ${must}`)
    else if (value !== null && !isText(value)) faults.push(`[${index}.${name}] ${must}`)
  }
  for (const name of Object.keys(input)) {
    if (name === 'method' || REQUIRED[method].some((property) => property.name === name)) continue
    const optional = OPTIONAL.find((property) => property.name === name)
    const value = input[name]
    if (!optional) faults.push(`[${index}] has the unknown property "${name}"`)
    else if (value !== undefined && !optional.fits(value)) faults.push(`[${index}.${name}] ${optional.must}`)
  }
  return faults
}

/** Why the contact of a factor cannot be used, if it cannot: it is some text, or `null`. */
function findUnusable(input: FactorInput, index: number): Factor['unusable'] {
  const properties = REQUIRED[input.method]
  const readValue = ({ name }: Property) => readObject(input)[name]
  const wrong = properties.filter((property) => !property.fits(readValue(property)))
  if (wrong.length === 0) return undefined
  return {
    listed: properties.map((property) => readValue(property) ?? '').join(':'),
    faults: wrong.map(({ name, must }) => `[${index}.${name}] ${must}`),
  }
}

function isTypedPhone(value: unknown): boolean {
  return isPhone(value) || (isText(value) && isPhone(plainPhone(value)))
}

function isMethod(value: unknown): value is Method {
  return METHODS.some((method) => method === value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function readContact(input: FactorInput): Contact {
  switch (input.method) {
    case 'email':
      return { kind: 'email', email: input.email }
    case 'app':
    case 'security-key':
    case 'passkey':
      return foldContact(
        isEmail(input.user)
          ? { kind: 'email', email: input.user }
          : { kind: 'phone', phone: plainPhone(input.user) },
      )
    case 'dual':
      return { kind: 'dual', email: input.email, phone: plainPhone(input.phone) }
    default:
      return { kind: 'phone', phone: plainPhone(input.phone) }
  }
}

/**
 * How hard a factor is to take over. Email is `weak`: it needs one more password (R48), and so is a code that goes to a mailbox
 * and a phone alike. A phone number is `medium`: an attacker must deceive the carrier. An authenticator app is `strong`: its
 * secret is never transmitted after enrollment. A security key or passkey is `phishing-resistant`: it signs for the right site only. A
 * backup code is as strong as the contact that received it, and `medium` if it was shown on a page (R93).
 */
export const STRENGTHS = ['weak', 'medium', 'strong', 'phishing-resistant'] as const
/** How strong a factor is. */
export type Strength = (typeof STRENGTHS)[number]

/** The factors that a user can show. A backup code is `backup` if a mailbox received it, `phone_backup` if only a phone, `page_backup` if a page. */
export type ShownMethod = Method | ShownBackup

/** The factors that a code counts as. */
export type ShownCode = CodeMethod | ShownBackup

const SHOWN_BACKUPS = ['backup', 'phone_backup', 'page_backup'] as const

/** The factors that a backup code counts as. */
export type ShownBackup = (typeof SHOWN_BACKUPS)[number]

/** Everything that can be shown. */
export const SHOWN_METHODS = [...METHODS, ...SHOWN_BACKUPS] as const

const STRENGTH: Readonly<Record<ShownMethod, Strength>> = {
  email: 'weak',
  sms: 'medium',
  whatsapp: 'medium',
  call: 'medium',
  dual: 'weak',
  backup: 'weak',
  phone_backup: 'medium',
  page_backup: 'medium',
  app: 'strong',
  'security-key': 'phishing-resistant',
  passkey: 'phishing-resistant',
}

/** The method as users know it: every backup code is `backup`. */
export function methodShown(shown: ShownCode): CodeMethod | 'backup'
export function methodShown(shown: ShownMethod): Method | 'backup'
export function methodShown(shown: ShownMethod): Method | 'backup' {
  return shown === 'phone_backup' || shown === 'page_backup' ? 'backup' : shown
}

/** The strength of a method, as it was shown. */
export function getStrength(shown: ShownMethod): Strength {
  return STRENGTH[shown]
}

/** The strength of the strongest of these methods; `weak` if there are none. */
export function findStrongest(methods: readonly Method[]): Strength {
  const ranks = methods.map((method) => STRENGTHS.indexOf(getStrength(method)))
  return STRENGTHS[Math.max(0, ...ranks)] ?? 'weak'
}

/** Whether a value is a strength. */
export function isStrength(value: unknown): value is Strength {
  return STRENGTHS.some((strength) => strength === value)
}

/** The stronger one of two strengths. */
export function findStronger(one: Strength, other: Strength): Strength {
  return reaches(one, other) ? one : other
}

/** Whether a strength is at least another one. */
export function reaches(strength: Strength, least: Strength): boolean {
  return STRENGTHS.indexOf(strength) >= STRENGTHS.indexOf(least)
}

/** Whether a method has at least this strength. */
export function isAtLeast(shown: ShownMethod, strength: Strength): boolean {
  return reaches(getStrength(shown), strength)
}

/** The class of a factor that is no key, before its strength. OpenID Connect has none for such factors. */
const ACR = 'urn:countersign:acr:'

/** The `acr` of a shown factor: `phr` or `phrh` for a key (OpenID Connect EAP), for others one of our own. */
export function acrOfStrength(strength: Strength, amr: readonly Amr[]): string {
  if (strength !== 'phishing-resistant') return `${ACR}${strength}`
  return amr.includes('hwk') && !amr.includes('swk') ? 'phrh' : 'phr'
}

/** The classes that are enough where these strengths are, weakest first. */
export function listAcrValues(strengths: readonly Strength[]): readonly string[] {
  return strengths.flatMap((strength) =>
    strength === 'phishing-resistant' ? ['phr', 'phrh'] : [`${ACR}${strength}`],
  )
}

/** The authentication method references (RFC 8176) that this package uses, in the order in which it lists them (R19). */
export const AMR_VALUES = ['pwd', 'otp', 'sms', 'tel', 'hwk', 'swk', 'user', 'mfa'] as const

/** One of these values. */
export type Amr = (typeof AMR_VALUES)[number]

/** The values that a verified code adds to `amr`. RFC 8176 has none for email, here `otp`, and WhatsApp, here `sms`. */
export const METHOD_AMR: Readonly<Record<CodeMethod | 'backup', readonly Amr[]>> = {
  app: ['otp'],
  email: ['otp'],
  sms: ['sms'],
  whatsapp: ['sms'],
  call: ['tel'],
  dual: ['otp', 'sms'],
  backup: ['otp'],
}

/** The values that an accepted key adds to `amr`, by the flags of its response. `swk`: a key that can be synced. */
export function keyAmr(key: { readonly backupEligible: boolean }, userVerified: boolean): readonly Amr[] {
  return [key.backupEligible ? 'swk' : 'hwk', ...(userVerified ? (['user'] as const) : [])]
}

/** Adds what was proven, each known value once, in a fixed order; `mfa` for two different factors. */
export function addAmr(before: readonly string[], added: readonly string[]): Amr[] {
  const proven = new Set<string>([...before, ...added])
  if (before.some((value) => added.every((other) => other !== value)) || added.includes('user'))
    proven.add('mfa')
  return AMR_VALUES.filter((value) => proven.has(value))
}
