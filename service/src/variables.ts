import { closestMatch } from 'leven'
import * as z from 'zod'
import { optionsSchema } from './options.js'
import { processSchema } from './process-options.js'
import { baseOf } from './written-value.js'

/** An environment variable of the service. */
export interface Variable {
  readonly name: string
  /** The option that it sets, such as `limits.codeLifetime`. */
  readonly option: string
  readonly rule: z.core.$ZodType
  /** The default in words, where it is another one than that of the option. */
  readonly usual?: string
  /** How its text is written, where the kind of value does not say so. */
  readonly form?: string
}

const PREFIX = 'SERVICE_'

/** Where a variable follows no rule: its name, which other programs also use, its default, or its form. */
const EXCEPTIONS: Readonly<Record<string, Partial<Pick<Variable, 'name' | 'usual' | 'form'>>>> = {
  databaseUrl: { name: 'DATABASE_URL' },
  dataDir: { name: 'DATA_DIR', usual: '`.data`' },
  secret: { usual: 'outside production, generated once and kept in `DATA_DIR/secret`' },
  apiKey: { usual: 'outside production, generated and printed at each start' },
  delivery: { usual: '`inbox` outside production' },
  previousSecrets: { form: 'Write a comma in a secret as `%2C`.' },
  notices: { form: '`none` is an empty list.' },
  'keyPolicy.metadata': { form: 'The variable has the path of a JSON file.' },
}

/** A function, and what follows from `SERVICE_HOST`. */
const WITHOUT_VARIABLE = ['logger', 'metricsWithoutKey']

/** `console.fourEyes` as `SERVICE_CONSOLE_FOUR_EYES`; limits lack their group: `SERVICE_CODE_LIFETIME`. */
function nameOf(option: string): string {
  const words = option.replace(/^limits\./, '').replace(/[A-Z]/g, '_$&')
  return PREFIX + words.replace('.', '_').toUpperCase()
}

function variablesIn(shape: z.core.$ZodShape, owner = ''): Variable[] {
  return Object.entries(shape).flatMap(([name, rule]) => {
    const option = `${owner}${name}`
    const base = baseOf(rule)
    if (base instanceof z.ZodObject) return variablesIn(base.shape, `${option}.`)
    return WITHOUT_VARIABLE.includes(option)
      ? []
      : [{ name: nameOf(option), option, rule, ...EXCEPTIONS[option] }]
  })
}

/** The variables of what only a process has. */
export const PROCESS_VARIABLES: readonly Variable[] = variablesIn(processSchema.shape)

/** The variables of the options of `createService`. */
export const OPTION_VARIABLES: readonly Variable[] = variablesIn(optionsSchema.shape)

/** The name of every variable. */
export const VARIABLE_NAMES: readonly string[] = [...PROCESS_VARIABLES, ...OPTION_VARIABLES].map(
  ({ name }) => name,
)

/** The sentence about an option, with the name of its variable. */
export function aboutVariable(fault: string): string {
  const all = [...PROCESS_VARIABLES, ...OPTION_VARIABLES]
  return fault.replace(
    /^[\w.]+/,
    (option) => all.find((one) => one.option === option || one.option === `limits.${option}`)?.name ?? option,
  )
}

/** A fault for each variable that begins with `SERVICE_` and is not known, with the known name that it resembles. */
export function unknownVariableFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !VARIABLE_NAMES.includes(name))
  return unknown.sort().map((name) => {
    // More changes would make a short name resemble everything.
    const maxDistance = Math.floor((name.length - PREFIX.length) / 3)
    const similar = closestMatch(name, VARIABLE_NAMES, { maxDistance })
    return `${name} is not a variable of the service${similar ? `: did you mean ${similar}?` : '.'}`
  })
}
