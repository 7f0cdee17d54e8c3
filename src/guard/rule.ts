import * as z from 'zod'
import { type Duration, durationMs } from '../duration.js'
import { OptionsError } from '../errors.js'
import { onlyGiven } from '../option-rules.js'
import { METHODS, type Method } from '../protocol/methods.js'
import { isAtLeast, STRENGTHS, type Strength } from '../protocol/strength.js'

const MIN_AGE_MS = 30_000
const MAX_AGE_MS = 24 * 60 * 60_000

/** A field of a form, as people read it when they are asked to send the form again. */
export interface ResumeField {
  readonly name: string
  /**
   * What stands beside what was typed: one text, or one for each language. Defaults to the name in words: `recipientName`
   * is "Recipient name". `false` sends the field along and does not show it, as is the default for names that begin with
   * `_`, such as `_csrf`.
   */
  readonly label?: string | Readonly<Record<string, string>> | false | undefined
}

/** What a route asks of the second factor. */
export interface MfaRule {
  /** How long ago it may have been shown, like `5m`: 30 seconds to 24 hours, defaults to `15m`. */
  readonly maxAge?: Duration | undefined
  /** Which ones count. Defaults to all. */
  readonly methods?: readonly (Method | 'backup')[] | undefined
  /** How strong it must be: email is `weak`, an authenticator app `strong`, the rest `medium`. Defaults to `weak`. */
  readonly minStrength?: Strength | undefined
  /**
   * Fields of a form whose POST may be offered again after the second factor, with what was typed. Name no field that
   * holds a secret: they are kept in the session meanwhile. Without it the user returns to the page with the form.
   */
  readonly resume?: readonly (string | ResumeField)[] | undefined
}

/** A rule that was read. */
export interface Rule {
  readonly maxAgeMs: number
  /** Whether a method counts for this route. */
  readonly counts: (method: Method | 'backup') => boolean
  readonly resume: readonly ResumeField[]
}

const WAYS = [...METHODS, 'backup'] as const

const fieldText = 'must be the name of a form field, or { name, label } with a text of at most 80 characters'
const fieldName = z.string().regex(/^[\w.[\]-]{1,64}$/, { error: fieldText })
const labelText = z.string().min(1).max(80)

const resumeField = z.strictObject({
  name: fieldName,
  label: z.union([labelText, z.literal(false), z.record(z.string().min(2).max(35), labelText)]).optional(),
})

const schema = z.strictObject({
  maxAge: z
    .string({ error: 'must be a time like "5m", from 30s to 24h' })
    .default('15m')
    .transform((text, context) => {
      const ms = durationMs(text)
      if (ms !== undefined && ms >= MIN_AGE_MS && ms <= MAX_AGE_MS) return ms
      context.addIssue({ code: 'custom', message: 'must be a time like "5m", from 30s to 24h' })
      return z.NEVER
    }),
  methods: z
    .array(z.enum(WAYS, { error: `must be one of ${WAYS.join(', ')}` }), {
      error: 'must be a list of methods',
    })
    .min(1, { error: 'must name at least one method' })
    .optional(),
  minStrength: z.enum(STRENGTHS, { error: `must be one of ${STRENGTHS.join(', ')}` }).default('weak'),
  resume: z
    .array(z.union([fieldName.transform((name) => ({ name })), resumeField], { error: fieldText }), {
      error: 'must be a list of form fields',
    })
    .default([]),
})

/**
 * Reads a rule.
 * @throws {OptionsError} with all faults together.
 */
export function readRule(rule: MfaRule): Rule {
  const isObject = typeof rule === 'object' && rule !== null && !Array.isArray(rule)
  if (!isObject) throw new OptionsError(['requireMfa: the rule must be an object like { maxAge: "5m" }'])
  const parsed = schema.safeParse(onlyGiven({ ...rule }))
  if (!parsed.success) throw new OptionsError(parsed.error.issues.flatMap(faultsIn))
  const { maxAge, methods, minStrength, resume } = parsed.data
  const counts = (method: Method | 'backup') =>
    (methods?.includes(method) ?? true) && isAtLeast(method, minStrength)
  if (WAYS.some(counts)) return { maxAgeMs: maxAge, counts, resume }
  throw new OptionsError(['requireMfa: none of methods is as strong as minStrength asks'])
}

function faultsIn(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => `requireMfa: ${name} is not an option; is it misspelt?`)
  }
  return [`requireMfa: ${issue.path.join('.')} ${issue.message}`]
}
