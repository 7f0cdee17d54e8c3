import type { Request } from 'express'
import * as z from 'zod'
import { OptionsError } from '../../errors.js'
import { findBinding } from '../../flows/approval.js'
import { canonicalJson } from '../../flows/canonical-json.js'
import { FACTOR_CHANGE_MS, type Freshness } from '../../flows/freshness.js'
import {
  convertToMilliseconds,
  duration,
  type Given,
  hasParts,
  optionFaults,
  setType,
} from '../../option-rules.js'
import { callback } from '../../options/callback.js'
import {
  type AuthorizationDetails,
  BINDINGS,
  type DetailLine,
  isBoundAtLeast,
  MAX_DETAIL_LINES,
} from '../../protocol/details.js'
import {
  getStrength,
  isAtLeast,
  methodShown,
  reaches,
  SHOWN_METHODS,
  type ShownMethod,
  STRENGTHS,
  type Strength,
} from '../../protocol/factor.js'
import { METHODS } from '../../protocol/methods.js'
import type { InterruptedRequest } from '../../session/record.js'
import { pickGiven } from '../../shape.js'
import { resumeEntries } from '../http/entries.js'

const ALL_METHODS = [...METHODS, 'backup'] as const

const fieldText = 'must be the name of a form field, or { name, label } with a text of at most 80 characters'
const fieldName = z.string().regex(/^[\w.[\]-]{1,64}$/, { error: fieldText })
const labelText = z.string().min(1).max(80)
const labelTexts = z.record(z.string().min(2).max(35), labelText)

/** The rules of a form field that the user sees again before the form is sent again. */
export class ResumeFieldRules {
  /** The name of the field in the form. */
  readonly name = fieldName
  /**
   * The label of the field: one text, or one for each language. Defaults to the name in words: `recipientName` becomes "Recipient
   * name". `false` sends the field without showing it, which is the default for names that begin with `_`, such as `_csrf`.
   */
  readonly label = z.union([labelText, z.literal(false), labelTexts]).optional()
}

/** A form field that the user sees again before the form is sent again. */
export interface ResumeField extends Given<ResumeFieldRules> {}

const resumeField = setType<ResumeField>()(z.strictObject({ ...new ResumeFieldRules() }))

/** The action that a request asks to approve: a `type`, and members of texts, numbers, booleans, lists and objects. */
export type BindRequest = (req: Request) => AuthorizationDetails | Promise<AuthorizationDetails>

const bindError = 'must be a list of form fields, a function of the request, or { fields, atLeast }'
const boundNames = z
  .array(fieldName)
  .min(1, { error: bindError })
  .refine((names) => !names.includes('type'), { error: 'cannot name a field type; use a function' })
  .max(MAX_DETAIL_LINES, { error: 'must not name more than four fields' })
const boundFields = z.union(
  [boundNames.readonly(), callback<BindRequest>({ name: 'bind', must: bindError })],
  { error: bindError },
)

/** The rules of what a factor approves, and how it must be bound to that. */
export class BindRules {
  /** The names of fields of the body, or a function of the request. */
  readonly fields = boundFields
  /**
   * `shown`: the message with the code names it, or a key signs it. `signed`: a security key or passkey signs it. Defaults to `entered`,
   * which is every factor.
   */
  readonly atLeast = z.enum(BINDINGS).default('entered')
}

/** The action that a factor approves, and the binding to it. */
export interface BindRule extends Given<BindRules> {}

const bindRule = setType<BindRule>()(z.strictObject({ ...new BindRules() }))

/** Says what the user is shown before they approve a request: one to four lines. */
export type BindText = (details: AuthorizationDetails, locale: string) => readonly DetailLine[]

/** The rules of what a route requires of the second factor. */
export class MfaRules {
  /** The largest age of the second factor, from 30 seconds to 24 hours. Defaults to `15m`. */
  readonly maxAge = duration('30s', '24h', '5m').prefault('15m')
  /** The accepted methods. Defaults to all. */
  readonly methods = z
    .array(z.enum(ALL_METHODS, { error: `must be one of ${ALL_METHODS.join(', ')}` }), {
      error: 'must be a list of methods',
    })
    .min(1, { error: 'must name at least one method' })
    .readonly()
    .optional()
  /**
   * The least accepted strength: email and dual are `weak`, an authenticator app `strong`, security keys and passkeys
   * `phishing-resistant`, others `medium`. A backup code that
   * was delivered by email is `weak`, one that was delivered only to a phone or shown on a page `medium`. Defaults to `weak`.
   */
  readonly minStrength = z
    .enum(STRENGTHS, { error: `must be one of ${STRENGTHS.join(', ')}` })
    .default('weak')
  /**
   * Fields of a posted form that the user can send again after the second factor. The session keeps them in the meantime, so
   * do not list a field that holds a secret. Defaults to none: the user returns to the page with the form.
   */
  readonly resume = z
    .array(
      z.union([fieldName.transform((name): ResumeField => ({ name })), resumeField], { error: fieldText }),
      {
        error: 'must be a list of form fields',
      },
    )
    .readonly()
    .default([])
  /**
   * The title of the page that offers the form again, as one text or one for each language, such as `Confirm your withdrawal`.
   * At most 80 characters. Defaults to `Check and send`.
   */
  readonly resumeTitle = z
    .union([labelText, labelTexts], {
      error: 'must be a text of at most 80 characters, or one for each language',
    })
    .optional()
  /**
   * Requires a factor for exactly this request: for its user, session, method, path, route, path parameters and these fields of the body,
   * once, within five minutes. The names of one to four fields, a function of the request, or an object with either and `atLeast`. A form is
   * offered again as with `resume`. The query is not bound. Defaults to none.
   */
  readonly bind = z
    .union([boundFields, bindRule], { error: bindError })
    .transform((bind) => ('fields' in bind ? bind : { fields: bind, atLeast: 'entered' as const }))
    .optional()
  /** The lines of it that the user is shown, in the language of the page. Defaults to the fields with their names, or the labels in `resume`. */
  readonly bindText = callback<BindText>({
    name: 'bindText',
    returns: ['one to four lines with label and value'],
  }).optional()
}

/** The requirements of a route for the second factor. */
export interface MfaRule extends Given<MfaRules> {}

/** The options of `requireStrongest`. It knows by itself which factors it accepts. */
export type StrongestRule = Pick<MfaRule, 'maxAge' | 'resume' | 'resumeTitle'>

const mfaSchema = convertToMilliseconds(z.strictObject({ ...new MfaRules() }))
const { resume, resumeTitle } = new MfaRules()
const strongestSchema = convertToMilliseconds(
  z.strictObject({ maxAge: duration('30s', '24h', '5m').prefault(FACTOR_CHANGE_MS), resume, resumeTitle }),
)

type ReadRule = z.output<typeof mfaSchema>

/** A rule with its defaults. */
export interface Rule extends Freshness, Pick<ReadRule, 'resume' | 'resumeTitle'> {
  /** The strengths of the factors that it accepts. */
  readonly strengths: readonly Strength[]
  /** The action that a factor must approve. Without it, a recent one counts. */
  readonly bind?: BoundRule | undefined
}

/** The part of a rule that binds a factor to a request, and says what the user is shown of that. */
export type BoundRule = NonNullable<ReadRule['bind']> & { readonly text: BindText }

/** Checks a rule and adds the defaults. @throws {OptionsError} with all faults. */
export function readRule(rule: MfaRule): Rule {
  const parsed = parse('requireMfa', mfaSchema, rule)
  const { maxAgeMs, methods, minStrength, resume: kept, resumeTitle } = parsed
  const bind = parsed.bind && { ...parsed.bind, text: parsed.bindText ?? textOfFields(kept) }
  const faults = bindFaults(rule, bind)
  if (faults.length > 0) throw new OptionsError(faults.map((fault) => `requireMfa: ${fault}`))
  const accepts = (shown: ShownMethod) =>
    (methods?.includes(methodShown(shown)) ?? true) &&
    isAtLeast(shown, minStrength) &&
    (!bind || isBoundAtLeast(findBinding(methodShown(shown), { approvals: true }), bind.atLeast))
  const accepted = SHOWN_METHODS.filter(accepts).map(getStrength)
  const strengths = STRENGTHS.filter((strength) => accepted.includes(strength))
  // Methods in a rule are methods of the account, and no issuer knows what is approved.
  const acceptsEvidence = (strength: Strength) =>
    !bind && methods === undefined && reaches(strength, minStrength)
  const names = bind && typeof bind.fields !== 'function' ? bind.fields : []
  const bound = names.filter((name) => !kept.some((field) => field.name === name)).map((name) => ({ name }))
  const resume = [...bound, ...kept]
  if (strengths.length > 0)
    return { maxAgeMs, accepts, acceptsSetup: true, acceptsEvidence, strengths, resume, resumeTitle, bind }
  throw new OptionsError([
    'requireMfa: methods has no method as strong as minStrength and bind.atLeast; add a stronger method or lower them',
  ])
}

/** The labels of the fields that a rule resumes. */
export function listLabels(fields: readonly ResumeField[]): NonNullable<InterruptedRequest['labels']> {
  return Object.fromEntries(
    fields.flatMap(({ name, label }) => (label === undefined ? [] : [[name, label] as const])),
  )
}

/** Shows each member with its label; nothing if one of them would not be shown, since everything that is bound must be (R123). */
function textOfFields(kept: readonly ResumeField[]): BindText {
  const labels = listLabels(kept)
  return ({ type: _type, ...members }, locale) => {
    const texts = Object.entries(members).map(([name, value]) => [name, readText(value)] as const)
    const entries = resumeEntries({ fields: Object.fromEntries(texts), labels }, locale)
    const shown = entries.flatMap(({ label, value }) => (value === undefined ? [] : [{ label, value }]))
    return shown.length === texts.length ? shown : []
  }
}

function readText(value: unknown): string {
  return typeof value === 'object' ? canonicalJson(value) : String(value)
}

/** The fault of a rule that binds a factor. */
function bindFaults({ maxAge, bindText }: MfaRule, bind: BoundRule | undefined): string[] {
  if (!bind) return bindText ? ['bindText has no effect without bind; give bind as well'] : []
  const always = maxAge === undefined ? [] : ['maxAge has no effect beside bind; leave it out']
  if (typeof bind.fields === 'function' || bindText) return always
  const members = Object.fromEntries(bind.fields.map((name) => [name, '']))
  const isShown = bind.text({ ...members, type: '' }, 'en').length > 0
  return isShown ? always : [...always, 'bind names a field that is not shown; give bindText']
}

/** As `readRule`, for `requireStrongest`. @throws {OptionsError} with all faults. */
export function readStrongestRule(rule: StrongestRule): Omit<Rule, 'accepts' | 'strengths'> {
  return parse('requireStrongest', strongestSchema, rule)
}

function parse<Parsed>(guard: string, rules: z.ZodType<Parsed>, rule: object): Parsed {
  const isObject = typeof rule === 'object' && rule !== null && !Array.isArray(rule)
  if (!isObject) throw new OptionsError([`${guard}: the rule must be an object like { maxAge: "5m" }`])
  // Express called the factory with a request.
  if ('headers' in rule && 'url' in rule) {
    throw new OptionsError([`mfa.${guard} was mounted without being called: write mfa.${guard}()`])
  }
  if (hasParts(rule)) {
    throw new OptionsError([
      `${guard} was given what createMfa returned, which is no rule: write mfa.${guard}(), with a rule or nothing`,
    ])
  }
  const parsed = rules.safeParse(pickGiven({ ...rule }))
  if (parsed.success) return parsed.data
  throw new OptionsError(optionFaults(parsed.error, rules).map((fault) => `${guard}: ${fault}`))
}
