import * as z from 'zod'
import { type Contact, emailSchema, foldedContact, parseUser, phoneSchema } from './contact.js'
import { KEY_METHODS, type KeyMethod, METHODS, type Method } from './methods.js'

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
}

const labelText = 'must be text of at most 60 characters'
const manageUrlText = 'must be a path on this site, like /account/phone'
const idText = 'must be 1 to 32 lower-case letters, digits, - or _'
const shared = {
  id: z
    .string({ error: idText })
    .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, { error: idText })
    .refine((id) => id !== 'backup', { error: 'must not be "backup", which stands for backup codes' })
    .refine((id) => id !== 'bypass', {
      error: 'must not be "bypass", which stands for the bypass code of a reset',
    })
    .optional(),
  label: z.string({ error: labelText }).max(60, { error: labelText }).optional(),
  manageUrl: z
    .string({ error: manageUrlText })
    .regex(/^\/(?![/\\])[\x21-\x7e]*$/, { error: manageUrlText })
    .max(500, { error: manageUrlText })
    .optional(),
}

const appUserText = 'must be an email address or a phone number in E.164 format'
const appUser = z.string({ error: appUserText }).transform((user, context) => {
  const contact = parseUser(user)
  if (contact && contact.kind !== 'dual') return contact
  context.addIssue({ code: 'custom', message: appUserText })
  return z.NEVER
})

const factorInput = z.discriminatedUnion(
  'method',
  [
    z.strictObject({ ...shared, method: z.literal('email'), email: emailSchema }),
    z.strictObject({ ...shared, method: z.enum(['sms', 'whatsapp', 'call']), phone: phoneSchema }),
    z.strictObject({ ...shared, method: z.enum(['app', ...KEY_METHODS]), user: appUser }),
    z.strictObject({ ...shared, method: z.literal('dual'), email: emailSchema, phone: phoneSchema }),
  ],
  { error: `method must be one of ${METHODS.join(', ')}` },
)

const factorList = z
  .array(factorInput, { error: 'must be a list' })
  .max(20, { error: 'must have at most 20 factors' })

/**
 * Validates the host's list of factors and gives each an id. The list comes from the host's record of the user, never from
 * a request (R42). `faults` describes every fault without quoting a contact.
 */
export function readFactors(list: unknown): { factors: readonly Factor[] } | { faults: readonly string[] } {
  const parsed = factorList.safeParse(list)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => {
      const isMissing = path.length > 0 && memberAt(list, path) === undefined
      return `[${path.join('.')}] ${isMissing ? 'is missing: ' : ''}${message}`
    })
    return { faults }
  }
  const named = new Map<string, Factor>()
  const count = new Map<Method, number>()
  for (const input of parsed.data) {
    const nth = (count.get(input.method) ?? 0) + 1
    count.set(input.method, nth)
    const id = input.id ?? (nth === 1 ? input.method : `${input.method}-${nth}`)
    if (named.has(id)) return { faults: [`two factors have the id "${id}"; give each factor a unique id`] }
    named.set(id, {
      id,
      method: input.method,
      contact: contactOf(input),
      ...(input.label && { label: input.label }),
      ...(input.manageUrl && { manageUrl: input.manageUrl }),
    })
  }
  return { factors: [...named.values()] }
}

function memberAt(list: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((whole, key) => Reflect.get(Object(whole), key), list)
}

function contactOf(input: z.output<typeof factorInput>): Contact {
  switch (input.method) {
    case 'email':
      return { kind: 'email', email: input.email }
    case 'app':
    case 'security-key':
    case 'passkey':
      return foldedContact(input.user)
    case 'dual':
      return { kind: 'dual', email: input.email, phone: input.phone }
    default:
      return { kind: 'phone', phone: input.phone }
  }
}
