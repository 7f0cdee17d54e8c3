import { readFile } from 'node:fs/promises'
import type { parseArgs } from 'node:util'
import type { AppCheck } from '../probe/app-check.js'
import type { AppRequest } from '../probe/app-request.js'
import type { AppRoute } from '../probe/app-routes.js'
import type { CommandIo } from './command-io.js'

/** The options that describe an app, and how to sign in there. */
export const APP_OPTIONS = {
  'sign-in': { type: 'string' },
  'sign-in-page': { type: 'string' },
  provider: { type: 'string' },
  body: { type: 'string', default: 'form' },
  protected: { type: 'string', multiple: true, default: [] as string[] },
  route: { type: 'string', multiple: true, default: [] as string[] },
  routes: { type: 'string' },
  upgrade: { type: 'string', multiple: true, default: [] as string[] },
  'pending-path': { type: 'string', multiple: true, default: [] as string[] },
  header: { type: 'string', multiple: true, default: [] as string[] },
  path: { type: 'string', default: '/mfa' },
  'max-routes': { type: 'string', default: '50' },
  'max-seconds': { type: 'string', default: '120' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof APP_OPTIONS }>>['values']

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Reads what the options say about an app. */
export async function readAppOptions(values: Values, io: CommandIo): Promise<Omit<AppCheck, 'url'>> {
  const file = values.routes === undefined ? '' : await readFile(values.routes, 'utf8')
  const lines = file.split('\n').map((line) => line.trim())
  const routes = [...values.route, ...lines.filter((line) => line !== '' && !line.startsWith('#'))]
  const provider = values.provider === undefined ? undefined : parseAddress(values.provider)
  if (provider && !isThisMachine(provider))
    throw new Error(`--provider must be an address of this machine (got ${provider.hostname}).`)
  const request = { body: values.body, page: values['sign-in-page'], provider: provider?.origin }
  return {
    routes: routes.map(parseRoute),
    protectedPaths: values.protected.map(checkPath),
    upgrades: values.upgrade.map(checkPath),
    pendingPaths: values['pending-path'].map(checkPath),
    path: checkPath(values.path),
    headers: Object.fromEntries(values.header.map(parseHeader)),
    maxRoutes: countOf('max-routes', values['max-routes']),
    maxSeconds: countOf('max-seconds', values['max-seconds']),
    signIn: await requestOf('sign-in', values['sign-in'], request, io),
  }
}

/** @throws {Error} if it is not an http or https address. */
export function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new Error(`The address must be like http://localhost:3000 (got ${address}).`)
}

/** Whether the name in an address is one of this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** Reads `POST /login username=bob&password=$APP_PASSWORD`, the value of the option `name`. */
export async function requestOf(
  name: string,
  text: string | undefined,
  { body, page, provider }: { readonly body: string } & Pick<AppRequest, 'page' | 'provider'>,
  io: CommandIo,
): Promise<AppRequest> {
  const [, request, encoded = ''] = /^(\S+\s+\S+)\s*(.*)$/s.exec(text?.trim() ?? '') ?? []
  if (request === undefined) {
    throw new Error(`--${name} must be like 'POST /login username=bob&password=$APP_PASSWORD'.`)
  }
  if (body !== 'form' && body !== 'json') throw new Error(`--body must be form or json (got ${body}).`)
  const fields: Record<string, string> = {}
  for (const pair of encoded.split('&').filter(Boolean)) {
    const [[field, literal] = ['', '']] = new URLSearchParams(pair)
    const raw = pair.slice(pair.indexOf('=') + 1)
    if (VARIABLE.test(raw)) fields[field] = resolveVariable(name, raw, io)
    else if (raw === '-') fields[field] = (await io.stdin()).replace(/\r?\n$/, '')
    else {
      fields[field] = literal
      if (raw !== '{code}' && /pass|pwd|secret|pin$/i.test(field)) {
        io.err(
          `The value of "${field}" is in the list of processes and in the history of the shell. Write ${field}=$NAME in single quotes to read it from the environment, or ${field}=- to read it from standard input.`,
        )
      }
    }
  }
  const { method, path } = parseRoute(request)
  return { method, path, fields, body, page: checkPath(page ?? path), provider }
}

const VARIABLE = /^\$\{?(\w+)\}?$/

/**
 * The value of a variable for `$NAME`, and any other text as it is.
 * @throws {Error} if there is no such variable; it names the option.
 */
export function resolveVariable(option: string, text: string, { env }: CommandIo): string {
  const variable = VARIABLE.exec(text)?.[1]
  const value = variable === undefined ? text : env[variable]
  if (value !== undefined) return value
  throw new Error(`The environment variable ${variable} is not set. --${option} reads a field from it.`)
}

/** Reads `/orders` or `POST /orders`. */
function parseRoute(text: string): AppRoute {
  const [first = '', second] = text.trim().split(/\s+/)
  if (second === undefined) return { method: 'GET', path: checkPath(first) }
  const method = first.toUpperCase()
  if (!METHODS.includes(method)) throw new Error(`A route must be like 'POST /orders' (got ${text}).`)
  return { method, path: checkPath(second) }
}

/** @throws {Error} if it is not a path. */
export function checkPath(text: string): string {
  if (/^\/(?![/\\])/.test(text)) return text
  throw new Error(`A path must begin with one slash (got ${text}).`)
}

function parseHeader(text: string): [string, string] {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new Error(`A header must be like 'X-Forwarded-Proto: https' (got ${text}).`)
}

function countOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a whole number (got ${text}).`)
}
