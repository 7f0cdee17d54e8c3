import * as z from 'zod'
import { readJson } from '../json.js'
import { MAX_DETAIL_LINES } from './details.js'
import { unfitLine } from './named-lines.js'

/*
 * The parts that the bodies of the HTTP API share.
 */

/** A rule for a text of at most this length. */
export const createTextRule = (max: number) =>
  z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .max(max, { error: `must be at most ${max} characters` })

/** A rule for one of these words. */
export const createWordRule = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` })

/** The user and browser behind a request. */
export const caller = {
  Account: createTextRule(128).optional(),
  ClientAddress: z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' }).optional(),
  Locale: createTextRule(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, { error: 'must be a language tag like en or pt-BR' })
    .optional(),
}

/** The user that a request is about: an email address, a phone number in E.164 format, or for DUAL both: `<EMAIL>:<PHONE_E164>`. */
export const user = createTextRule(320)

/** A whole number, zero or more: of things, or of seconds. */
export const count = z.number().int().nonnegative()

/** An object, or its JSON in a form. */
export function parseJsonField(value: unknown): unknown {
  return typeof value === 'string' ? (readJson(value) ?? value) : value
}

/** The lines that the user is shown before they approve something. */
export const detailLines = z
  .array(z.strictObject({ label: createTextRule(400), value: createTextRule(402) }))
  .min(1)
  .max(MAX_DETAIL_LINES)

/** The action that the user approves. */
export const approval = z
  .preprocess(
    parseJsonField,
    z.strictObject(
      {
        /** SHA-256 of everything that is approved, in base64url. A code or a key counts for this digest only. */
        digest: z.string().regex(/^[\w-]{43}$/, { error: 'must be SHA-256 in base64url' }),
        /** The lines that the message names. */
        lines: detailLines,
      },
      { error: 'must be an object with digest and lines' },
    ),
  )
  .optional()

/** Whether a request has what is approved exactly if that is its purpose. */
export const hasApproval = {
  check: ({ Purpose, Approval }: { readonly Purpose?: string | undefined; readonly Approval?: unknown }) =>
    (Purpose === 'approval') === (Approval !== undefined),
  says: { path: ['Approval'], error: 'must be given with the purpose approval, and with no other' },
}

/** Whether a text message can name what is approved. */
export const fitsMessage = {
  check: ({ Type, Approval }: { readonly Type: string; readonly Approval?: z.output<typeof approval> }) =>
    !['SMS', 'DUAL'].includes(Type) || !Approval || unfitLine(Approval.lines) === undefined,
  says: {
    path: ['Approval'],
    error: 'must have shorter numbers and fewer of them, or it does not fit into a text message',
  },
}
