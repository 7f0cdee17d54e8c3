import type * as z from 'zod'

/** What is wrong with one parameter. */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

/** Validated parameters, or everything that is wrong with them. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldError[] }

// U+FFFD stands for invalid UTF-8: two different broken names would become one account.
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\ufffd]/u

/** Validates a body by its schema, then by `use`. Control characters are never accepted. */
export function parse<Fields extends object, T>(
  schema: z.ZodType<Fields>,
  body: unknown,
  use: (fields: Fields) => Parsed<T>,
): Parsed<T> {
  const parsed = schema.safeParse(body ?? {})
  if (!parsed.success) return invalid(...errorsOf(parsed.error))
  const unprintable = Object.entries(parsed.data)
    .filter(([, value]) => typeof value === 'string' && UNPRINTABLE.test(value))
    .map(([field]) => ({ field, detail: 'must not contain control characters or invalid UTF-8' }))
  return unprintable.length > 0 ? invalid(...unprintable) : use(parsed.data)
}

function errorsOf(error: z.ZodError): FieldError[] {
  const details = new Map<string, string>()
  for (const issue of error.issues) {
    const field = issue.path.length > 0 ? issue.path.join('.') : 'body'
    if (!details.has(field)) details.set(field, issue.path.length > 0 ? issue.message : 'must be an object')
  }
  return [...details].map(([field, detail]) => ({ field, detail }))
}

/** The result for invalid parameters. */
export function invalid(...errors: FieldError[]): { readonly ok: false; readonly errors: FieldError[] } {
  return { ok: false, errors }
}
