import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import * as z from 'zod'
import { innerSchemas } from '../../src/option-rules.js'
import { keys } from '../../src/options/keys.js'
import { limits } from '../../src/options/limits.js'
import { login } from '../../src/options/login.js'
import { notices } from '../../src/options/notices.js'
import { optionsSchema } from '../../src/options/options.js'
import { outage } from '../../src/options/outage.js'
import { languages, pages } from '../../src/options/pages.js'
import { recovery } from '../../src/options/recovery.js'
import { serviceAddress } from '../../src/options/service.js'
import { tokens } from '../../src/options/tokens.js'
import { trustedDevices } from '../../src/options/trust.js'
import { urls } from '../../src/options/urls.js'
import { declarationsIn } from './declarations.js'
import { outageSummary, outageTable } from './outage-table.js'

/*
 * The tables of options in the documents, from the doc comments, defaults and ranges of the rules.
 */

type Schema = z.core.$ZodType

/** A group of options: a file, the classes and interfaces there whose members it has, and the schema. */
const GROUPS: Readonly<Record<string, readonly [string, string, Schema]>> = {
  options: ['src/options/options.ts', 'OptionRules, OptionalUserId, SharedOptions', optionsSchema],
  service: ['src/options/service.ts', 'AddressRules', serviceAddress],
  'service.breaker': ['src/options/service.ts', 'BreakerRules', membersOf(serviceAddress).breaker as Schema],
  urls: ['src/options/urls.ts', 'UrlRules', urls],
  login: ['src/options/login.ts', 'LoginRules', login],
  outage: ['src/options/outage.ts', 'OutageRules', outage],
  limits: ['src/options/limits.ts', 'LimitRules', limits],
  notices: ['src/options/notices.ts', 'NoticeRules', notices],
  keys: ['src/options/keys.ts', 'KeyRules', keys],
  recovery: ['src/options/recovery.ts', 'RecoveryRules', recovery],
  pages: ['src/options/pages.ts', 'PageRules', pages],
  languages: ['src/options/pages.ts', 'LanguageRules', languages],
  tokens: ['src/options/tokens.ts', 'TokenRules', tokens],
  trustedDevices: ['src/options/trust.ts', 'TrustedDeviceRules', trustedDevices],
}

/** The names of all groups. */
export const GROUP_NAMES = Object.keys(GROUPS)

/** An option as its doc comment and its rule describe it. */
export interface DescribedOption {
  readonly name: string
  readonly doc: string
  /** The names of the arguments, if it is a function. */
  readonly args: string | undefined
  /** The default in the doc comment. */
  readonly stated: string
  /** The default of the rule, if it can be written down. */
  readonly value: unknown
  /** The range of the rule. */
  readonly range: string | undefined
}

/** The options of a group, in the order of their rules. */
export async function optionsOf(group: string): Promise<readonly DescribedOption[]> {
  const [path = '', types = '', schema = z.never()] = GROUPS[group] ?? []
  const source = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const found = declarationsIn(source).filter(({ name }) => types.split(', ').includes(name))
  const rules = membersOf(schema)
  const order = Object.keys(rules)
  return found
    .flatMap(({ members }) => members)
    .sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name))
    .map(({ name, doc }) => {
      const rule = rules[name]
      return {
        name,
        doc,
        args: argumentsOf(name, source),
        stated: statedDefault(doc),
        value: rule && defaultOf(rule),
        range: rule && rangeOf(rule),
      }
    })
}

/** The names for which a group has rules. */
export const ruledIn = (group: string) => Object.keys(membersOf(GROUPS[group]?.[2] ?? z.never()))

/** A document with its tables of options as they are now. */
export async function withTables(path: string): Promise<string> {
  const text = await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const groups = [...text.matchAll(/<!-- options: (\S+) -->/g)].map(([, group = '']) => group)
  const tables = new Map<string, string>()
  for (const group of groups) tables.set(group, await tableOf(group, path, text))
  return text
    .replaceAll(
      /(<!-- options: (\S+) -->\n)[\s\S]*?(<!-- end -->)/g,
      (_, start, group, end) => `${start}${tables.get(group)}${end}`,
    )
    .replace(/(?<=<!-- outage: table -->\n)[\s\S]*?(?=<!-- end -->)/, outageTable())
    .replace(
      /(?<=<!-- outage: summary -->\n)[\s\S]*?(?=<!-- end -->)/,
      `${outageSummary(posix.dirname(path))}\n`,
    )
}

async function tableOf(group: string, path: string, text: string): Promise<string> {
  const inner = GROUP_NAMES.filter((name) => name.startsWith(`${group}.`))
  const rows = await Promise.all(
    [group, ...inner].map(async (name) => {
      const prefix = name === group ? '' : `${name.slice(group.length + 1)}.`
      return (await optionsOf(name)).map((option) => rowOf(prefix, option, path, text))
    }),
  )
  return ['| option | default | meaning |', '|---|---|---|', ...rows.flat(), ''].join('\n')
}

function rowOf(
  prefix: string,
  { name, doc, args, stated, range }: DescribedOption,
  path: string,
  text: string,
) {
  const hasSection = prefix === '' && text.includes(`\n## ${name}\n`)
  const cell = hasSection ? `[\`${name}\`](#${name})` : `\`${prefix}${name}\``
  const meaning = sentences(doc)
    .filter((sentence) => !STATES_DEFAULT.test(sentence) && !HAS_DEFAULTS.test(sentence))
    .join(' ')
    .replace(range === undefined ? '' : `, ${range}`, '')
  const call = args === undefined ? '' : `\`(${args}) => …\`: `
  const limits = range === undefined ? '' : `${stated ? ' ' : ''}(${range})`
  return `| ${cell} | ${stated}${limits} | ${call}${linked(meaning, path)} |`.replaceAll('|  |', '| |')
}

/** The arguments of the type of a member, without those of objects in it. */
function argumentsOf(name: string, source: string): string | undefined {
  const [, type = ''] =
    new RegExp(`^  (?:readonly )?${name}(?:\\??:| =)((?:(?!^  (?:/\\*|\\w)|^\\}).*\\n)+)`, 'm').exec(
      source,
    ) ?? []
  const [, args] = /\(((?:\w+: [^()]+)*)\) =>/.exec(type.replaceAll(/\{[^{}]*\}/g, 'object')) ?? []
  return args?.replaceAll(/: [^,]+(, |$)/g, '$1')
}

const STATES_DEFAULT =
  /^(?:Defaults to (.+)|By default, (.+)|(Required|Off) ?(?:unless given|, without a default)?)\.$/s
const HAS_DEFAULTS = /^All members have defaults\.$/

const sentences = (doc: string) => doc.split(/(?<=\.) (?=[A-Z`])/)

function statedDefault(doc: string): string {
  for (const sentence of sentences(doc)) {
    const [, value, clause, word] = STATES_DEFAULT.exec(sentence) ?? []
    const stated = value ?? clause ?? word?.toLowerCase()
    if (stated !== undefined) return stated === 'none' ? '' : stated
  }
  return ''
}

/** Makes links of the pages that a doc comment names. */
function linked(meaning: string, path: string): string {
  return meaning
    .replaceAll(/\b(?:docs\/[\w-]+|SECURITY)\.md(?:#([\w-]+))?/g, (target, section?: string) => {
      const page = target.split('#')[0] ?? ''
      const file = page.startsWith('docs/') ? page.slice('docs/'.length) : `../${page}`
      const label = section?.replaceAll('-', ' ') ?? file.replace('.md', '').replaceAll('-', ' ')
      return `[${label}](${page === path ? '' : file}${section === undefined ? '' : `#${section}`})`
    })
    .replaceAll('|', '\\|')
}

/** A default of the rules as a doc comment writes it. */
export function inWords(value: unknown): string | undefined {
  if (typeof value === 'number') return value.toLocaleString('en')
  if (typeof value === 'string') return value === '' ? undefined : `\`${value}\``
  if (typeof value === 'boolean') return `\`${value}\``
  if (Array.isArray(value)) return `\`[${value.map((one) => `'${one}'`).join(', ')}]\``
  return undefined
}

function defaultOf(schema: Schema): unknown {
  const { def } = schema._zod
  return def.type === 'default' || def.type === 'prefault' ? Reflect.get(def, 'defaultValue') : undefined
}

/** The error text of a number or time says its range. */
function rangeOf(schema: Schema): string | undefined {
  const [issue] = z.safeParse(schema, Number.NaN).error?.issues ?? []
  const [, min, max] = /from (\d+\w*(?: ms)?) to (\d+\w*)$/.exec(issue?.message ?? '') ?? []
  if (min !== undefined && max !== undefined) return `${limit(min)} to ${limit(max)}`
  return innerSchemas(schema).map(rangeOf).find(Boolean)
}

function limit(text: string): string {
  if (/^\d+$/.test(text)) return Number(text).toLocaleString('en')
  return text.endsWith(' ms') ? text.replace('ms', 'milliseconds') : `\`${text}\``
}

function membersOf(schema: Schema): Readonly<Record<string, Schema>> {
  const { def } = schema._zod
  if (def.type === 'object') return Reflect.get(def, 'shape')
  return Object.assign({}, ...innerSchemas(schema).map(membersOf))
}
