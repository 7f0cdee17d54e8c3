import { entriesOf, textsOf } from './resolve.js'

/** A value that a schema says is good: its first example, or the first of its words. */
export function exampleOf(schema: unknown): string {
  const members = new Map(entriesOf(schema))
  return textsOf(members.get('examples'))[0] ?? textsOf(members.get('enum'))[0] ?? ''
}

/** A call with the parameters that it needs, for a terminal. */
export function curlOf(path: string, body: Readonly<Record<string, unknown>>): string {
  const required = textsOf(body.required)
  const parameters = entriesOf(body.properties)
    .filter(([name]) => required.includes(name))
    .map(([name, schema]) => `-d ${name}=${exampleOf(schema)}`)
  return ['curl', `"$MFA_URL${path}"`, '-H "Authorization: Bearer $KEY"', ...parameters].join(' \\\n  ')
}
