import type { Value } from './store.js'

/** A statement whose parameters have names, ready for `Queries.query`. */
export interface Statement<Parameters extends object> {
  /** The statement with `$1`-style parameters. It never changes, so that databases can keep it prepared. */
  readonly text: string
  /** The values of the parameters in the order of `text`. Members that the statement does not name are ignored. */
  values(parameters: Parameters): Value[]
}

// `:name`, but not the cast `::text`.
const NAMED_PARAMETER = /(?<!:):([a-z]\w*)/gi

/**
 * Numbers the named parameters of a statement (`:account`) in the order in which they first appear, so that a
 * statement can be composed of fragments that do not know each other's numbers. Call it once, when the module loads.
 */
export function statement<Parameters extends { readonly [Name in keyof Parameters]: Value }>(
  sql: string,
): Statement<Parameters> {
  const names: string[] = []
  const text = sql.replace(NAMED_PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return {
    text,
    values: (parameters) =>
      names.map((name) => {
        const value = parameters[name as keyof Parameters]
        if (value === undefined) throw new TypeError(`The statement has no value for :${name}.`)
        return value
      }),
  }
}
