import * as z from 'zod'

/** The texts about a setting, in the console, on the command line and in documents. */
export interface SettingText {
  /** Its effect, in one or two sentences. */
  readonly hint: string
  /** The default. */
  readonly usual: string
  /** The values to choose from, where the rule does not list them. */
  readonly choices?: readonly string[]
}

const texts = new WeakMap<z.core.$ZodType, SettingText>()

/** The rule of a setting, which can be left out, with what a person reads about it. */
export function setting<Rule extends z.ZodType>(rule: Rule, text: SettingText): z.ZodOptional<Rule> {
  const optional = z.optional(rule)
  texts.set(optional, text)
  return optional
}

/** The texts about a setting that `setting` made. */
export function findText(rule: z.core.$ZodType): SettingText | undefined {
  return texts.get(rule)
}

/** The rule for a name that users see; `field` is the name of the option. */
export function displayName(field: string) {
  return z.string({ error: `${field} must be text: the name that users know` }).regex(/^[^\p{Cc}]{1,40}$/u, {
    error: `${field} must have 1 to 40 characters and no control characters`,
  })
}
