import * as z from 'zod'
import { readJson } from '../json.js'

/** The rule inside defaults, options and transformations, which says what kind of value is given. */
export function baseOf(rule: z.core.$ZodType): z.core.$ZodType {
  if (rule instanceof z.ZodOptional || rule instanceof z.ZodDefault || rule instanceof z.ZodPrefault) {
    return baseOf(rule.def.innerType)
  }
  return rule instanceof z.ZodPipe ? baseOf(rule.def.in) : rule
}

/** The value of a text: lists with commas, pairs as `GB:0.04,*:0.20`, else JSON. Text of another form is left to the rule to refuse. */
export function parseWritten(rule: z.core.$ZodType, text: string): unknown {
  const base = baseOf(rule)
  if (base instanceof z.ZodArray) return text === '' ? [] : text.split(',').map((part) => part.trim())
  if (base instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text)
  if (base instanceof z.ZodRecord) return parsePairs(base.def.valueType, text)
  if (base instanceof z.ZodUnknown) return readJson(text) ?? text
  // Limits: whole numbers, and durations, which may have a unit.
  if (base instanceof z.ZodCustom) return /^\d{1,9}$/.test(text) ? Number(text) : text
  if (base instanceof z.ZodNumber) return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : text
  return text
}

/** The values that a rule allows, if it lists them, and whether there may be several. */
export function listChoices(rule: z.core.$ZodType): {
  readonly choices?: string[]
  readonly isList: boolean
} {
  const base = baseOf(rule)
  const isList = base instanceof z.ZodArray
  const single = isList ? base.element : base
  if (single instanceof z.ZodEnum) return { choices: single.options.map(String), isList }
  return single instanceof z.ZodBoolean ? { choices: ['true', 'false'], isList } : { isList }
}

/** `1:{code},2:{minutes}`. */
function parsePairs(values: z.core.$ZodType, text: string): unknown {
  const pairs = text.split(',').map((pair) => /^([^:]*):(.*)$/s.exec(pair)?.slice(1) ?? [])
  if (pairs.some(({ length }) => length === 0)) return text
  return Object.fromEntries(
    pairs.map(([name = '', value = '']) => [name.trim(), parseWritten(values, value.trim())]),
  )
}

/** The faults that there are. */
export function listFaults(...faults: readonly (string | false | undefined)[]): string[] {
  return faults.filter((fault) => typeof fault === 'string')
}

/** The service, or a command, cannot run with its configuration. The message lists every fault with its remedy, and no secret. */
export class ConfigurationError extends Error {
  /** Identifies the error for programs. */
  readonly code = 'ERR_SERVICE_OPTIONS'
  /** The faults, one sentence per fault. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The MFA service cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`, options)
    this.name = 'ConfigurationError'
    this.faults = faults
  }
}
