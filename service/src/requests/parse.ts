import type * as z from 'zod'

/** What is wrong with one parameter. */
export interface FieldFault {
  readonly field: string
  readonly detail: string
}

/** Parameters that may be believed, or everything that is wrong with them. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: FieldFault[] }

// U+FFFD stands for bytes that were no UTF-8: two different broken names would become one account.
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\ufffd]/u

/** Reads a body by its schema, then by `use`; text with control characters is never believed. */
export function read<Parsed extends object, T>(
  schema: z.ZodType<Parsed>,
  body: unknown,
  use: (parsed: Parsed) => Reading<T>,
): Reading<T> {
  const parsed = schema.safeParse(body ?? {})
  if (!parsed.success) return refuse(...faultsOf(parsed.error))
  const unprintable = Object.entries(parsed.data)
    .filter(([, value]) => typeof value === 'string' && UNPRINTABLE.test(value))
    .map(([field]) => ({ field, detail: 'must not contain control characters or broken UTF-8' }))
  return unprintable.length > 0 ? refuse(...unprintable) : use(parsed.data)
}

function faultsOf(error: z.ZodError): FieldFault[] {
  const faults = new Map<string, string>()
  for (const issue of error.issues) {
    const field = issue.path.length > 0 ? issue.path.join('.') : 'body'
    if (!faults.has(field)) faults.set(field, issue.path.length > 0 ? issue.message : 'must be an object')
  }
  return [...faults].map(([field, detail]) => ({ field, detail }))
}

/** A reading that failed. */
export function refuse(...faults: FieldFault[]): { readonly ok: false; readonly faults: FieldFault[] } {
  return { ok: false, faults }
}
