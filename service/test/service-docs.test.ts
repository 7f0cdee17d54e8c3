import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { SETTING_GROUPS, type SettingDescription } from '../src/accounts/applications/settings.js'
import { LIMIT_NAMES, limitText } from '../src/accounts/limits.js'
import { apiDocument } from '../src/api/http/openapi/document.js'
import { CARRIER_KINDS, CARRIER_NAMES, type CarrierName } from '../src/messages/carriers/carriers.js'
import { listChoices } from '../src/process/configuration-error.js'
import { OPTION_VARIABLES, PROCESS_VARIABLES, type Variable } from '../src/run/environment.js'
import { entriesOf, resolve, textsOf } from './document-parts.js'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

/** The schemas whose doc comments describe options, with what comes before the names of their members. */
const SCHEMAS = [
  ['src/accounts/limits.ts', 'processSchema', ''],
  ['src/run/options.ts', 'optionsSchema', ''],
  ['src/messages/carriers/phone-check.ts', 'phoneCheckRule', 'phoneCheck.'],
  ['src/run/console-option.ts', 'consoleRule', 'console.'],
  ['src/accounts/applications/key-settings.ts', 'relyingPartyOption', 'relyingParty.'],
  ['src/accounts/applications/key-settings.ts', 'keyPolicyOption', 'keyPolicy.'],
] as const

/** The doc comment of each option. */
async function docComments(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [file, schema, owner] of SCHEMAS) {
    const [, body = ''] =
      new RegExp(`^export const ${schema} = ([\\s\\S]*?)^\\}?\\)`, 'm').exec(await read(file)) ?? []
    for (const [, comment = '', name = ''] of body.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+)[:,]/g)) {
      if (!found.has(owner + name)) found.set(owner + name, comment.replace(/\n *\* ?/g, ' ').trim())
    }
  }
  return found
}

const comments = await docComments()

/** Text in a cell of a table, with what Markdown would take for marks. */
const escaped = (text: string) =>
  text
    .split('`')
    .map((part, nth) => (nth % 2 === 0 ? part.replace(/[<*_]/g, '\\$&') : part).replaceAll('|', '\\|'))
    .join('`')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const VARIABLES = [...PROCESS_VARIABLES, ...OPTION_VARIABLES]

/** Names of options in the description of an option, as their variables. */
function withVariables(text: string, option: string): string {
  const owner = option.slice(0, option.lastIndexOf('.') + 1)
  return text.replace(/`(\w+)`/g, (whole, name: string) => {
    const other = [owner + name, name].flatMap(
      (full) => VARIABLES.find((one) => one.option === full) ?? [],
    )[0]
    return other && other.option !== option ? `\`${other.name}\`` : whole
  })
}

function listed({ choices, isList }: { readonly choices?: readonly string[]; readonly isList: boolean }) {
  return choices ? ` ${isList ? 'Of' : 'One of'} ${choices.join(', ')}.` : ''
}

function variableRow({ name, option, rule, usual, form }: Variable): string[] {
  const limit = limitText(option)
  const more = form ? ` ${form}` : ''
  if (limit) {
    const hint = withVariables(escaped(limit.hint), option)
    return [`\`${name}\``, limit.usual, `${hint} Allowed: ${limit.allowed}.`]
  }
  const comment = (comments.get(option) ?? '').replace(/ Required\.| \(R\d+\)/g, '')
  const [whole = '', initial = ''] = / Defaults to ((?:[^.]|\.(?!\s|$))+)\./.exec(comment) ?? []
  const values = listChoices(rule).isList ? listed(listChoices(rule)) : ''
  const text = `${withVariables(escaped(comment.replace(whole, '')), option)}${values}${more}`
  return [`\`${name}\``, withVariables(usual ?? initial, option), text]
}

function limitRow(name: string): string[] {
  const variable = OPTION_VARIABLES.find(({ option }) => option === `limits.${name}`)
  const { hint = '', allowed = '', usual = '' } = limitText(name) ?? {}
  return [`\`${name}\``, `\`${variable?.name}\``, usual, allowed, escaped(hint)]
}

function settingRow({ name, hint, usual, allowed, isLong, ...values }: SettingDescription): string[] {
  const range = allowed && ` Allowed: ${allowed}.`
  const file = isLong && ` \`${name}=@file.json\` reads a file.`
  const choices = values.choices?.includes('true') ? '' : listed(values)
  return [`\`${name}\``, usual, `${escaped(hint)}${range ?? ''}${choices}${file || ''}`]
}

const DOCUMENT = apiDocument()

/** The parameters that the text below the table explains once. */
const SHARED = ['Account', 'ClientAddress', 'Locale', 'Transaction']

/** The members of a schema, with a question mark after those that may be absent. */
function membersOf(
  schema: unknown,
  text: (name: string, member: ReadonlyMap<string, unknown>) => string,
): string[] {
  const { properties, required } = resolve(DOCUMENT, schema)
  const needed = new Set(textsOf(required))
  return entriesOf(properties)
    .filter(([name]) => !SHARED.includes(name))
    .map(([name, member]) => text(needed.has(name) ? name : `${name}?`, new Map(entriesOf(member))))
}

const parameter = (name: string, member: ReadonlyMap<string, unknown>) => {
  const values = textsOf(member.get('enum'))
  return `\`${name}\`${values.length > 0 ? ` = ${values.join(', ')}` : ''}`
}

const answered = (name: string, member: ReadonlyMap<string, unknown>) =>
  member.get('const') === true ? `${name}: true` : name

/** The schema of a body in this media type. */
const schemaIn = (part: unknown, type: string) =>
  resolve(DOCUMENT, resolve(DOCUMENT, resolve(DOCUMENT, part).content)[type]).schema

/** Every call with parameters, and what it answers with success. */
function callRows(): string[][] {
  return entriesOf(DOCUMENT.paths).flatMap(([path, methods]) => {
    const { requestBody, responses, summary } = resolve(DOCUMENT, resolve(DOCUMENT, methods).post)
    const body = schemaIn(requestBody, 'application/x-www-form-urlencoded')
    if (body === undefined) return []
    const [status = '', answer] = entriesOf(responses).find(([code]) => code.startsWith('2')) ?? []
    const members = membersOf(schemaIn(answer, 'application/json'), answered)
    // The OpenAPI document has them all.
    if (members.length > 12) members.splice(3, members.length, '…')
    return [
      [
        `\`${path}\``,
        membersOf(body, parameter).join('; '),
        `${status === '200' ? '' : `${status} `}\`{ ${members.join(', ')} }\``,
        String(summary),
      ],
    ]
  })
}

/** A carrier's addresses, the channels that it serves, and the settings of an application that it uses. */
function carrierRow(name: CarrierName): string[] {
  const { form, schemes, channels, senders } = CARRIER_KINDS[name]
  const others = schemes
    .filter((scheme) => !form.startsWith(`${scheme}:`))
    .map((scheme) => `\`${scheme}://\``)
  const used = senders.map((sender) => `\`${sender}\``)
  return [[`\`${form}\``, ...others].join(', '), channels.join(', '), used.join(', ')]
}

const TABLES = {
  carriers: table(
    ['address', 'channels', 'settings of an application that it uses'],
    CARRIER_NAMES.map(carrierRow),
  ),
  repeats: table(
    ['carrier', 'token', 'drops the second one'],
    CARRIER_NAMES.filter((name) => name !== 'inbox').map((name) => {
      const { token, drops } = CARRIER_KINDS[name].repeats
      return [name, token, drops]
    }),
  ),
  calls: table(['path', 'parameters', '200', ''], callRows()),
  variables: table(
    ['variable', 'default', ''],
    VARIABLES.filter(({ option }) => !option.startsWith('limits.')).map(variableRow),
  ),
  limits: table(['option', 'variable', 'default', 'allowed', ''], LIMIT_NAMES.map(limitRow)),
  settings: table(
    ['setting', 'default', ''],
    // The README explains limits, which are settings of the same names.
    SETTING_GROUPS.flatMap(({ settings }) => settings)
      .filter(({ name }) => !limitText(name))
      .map(settingRow),
  ),
}

/** A document with its tables as the sources have them now. */
function withTables(text: string): string {
  return text.replace(
    /^<!-- (calls|variables|limits|settings|carriers|repeats): .*-->\n[\s\S]*?^<!-- end -->/gm,
    (part, name: keyof typeof TABLES) => `${part.split('\n')[0]}\n\n${TABLES[name]}\n\n<!-- end -->`,
  )
}

test.each([
  ['README.md', 3],
  ['docs/operating.md', 1],
  ['docs/delivery.md', 2],
])('the tables in %s are those that `npm run generate` writes', async (path, tables) => {
  const text = await read(path)
  expect(text.match(/^<!-- end -->/gm)).toHaveLength(tables)
  await expect(withTables(text)).toMatchFileSnapshot(`../${path}`)
})

test('every option with a variable has a doc comment with its default, or is a limit', () => {
  const silent = VARIABLES.filter(({ option }) => {
    if (limitText(option.replace('limits.', ''))) return false
    return !/\bDefaults to\b|\bRequired\b|\bWithout it\b|cannot change later/.test(comments.get(option) ?? '')
  })
  expect(silent.map(({ option }) => option)).toEqual([])
})
