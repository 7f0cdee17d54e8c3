import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { listRoutes, type Operation } from '../../src/routes/routes.js'

/*
 * The table of routes in docs/routes.md, from the table in the sources.
 */

const PATH = '/mfa'

/** The document with its table in the current form. */
export async function withRoutes(path: string): Promise<string> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const table = [
    '| route | body | JSON response | what it does |',
    '|---|---|---|---|',
    ...listRoutes().map(lineOf),
  ].join('\n')
  return text.replace(/(<!-- routes -->\n)[\s\S]*?(\n?<!-- end -->)/, `$1${table}\n<!-- end -->`)
}

function lineOf({ method, path, body, answer, summary }: Operation): string {
  const route = `${method} ${PATH}${path === '/' ? '' : path}`
  return `| ${[`\`${route}\``, codeOf(body), codeOf(answer) || 'a page', `${summary}.`].join(' | ')} |`
}

function codeOf(schema: z.ZodType | undefined): string {
  if (!schema) return ''
  return sketchesOf(schema)
    .map((sketch) => `\`${sketch}\``)
    .join(' or ')
}

/** An object as its members: optional ones with `?`, and the value of those that have only a few. */
function sketchesOf(schema: z.core.$ZodType): string[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => sketchesOf(option))
  if (!(schema instanceof z.ZodObject)) return ['{ … }']
  const members = Object.entries(schema.shape).map(([name, member]) => memberOf(name, member))
  const open = schema.def.catchall ? ['…'] : []
  return [`{ ${[...members, ...open].join(', ')} }`]
}

function memberOf(name: string, schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodOptional) return `${name}?`
  if (schema instanceof z.ZodLiteral) return `${name}: ${JSON.stringify(schema.value)}`
  const values = name === 'status' && schema instanceof z.ZodEnum ? schema.options : []
  return values.length === 0 ? name : `${name}: ${values.map((value) => JSON.stringify(value)).join(' or ')}`
}
