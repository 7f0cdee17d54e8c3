import { lookup } from 'node:dns/promises'
import type { parseArgs } from 'node:util'
import type { AppCheck } from '../../probe/app-check.js'
import {
  APP_OPTIONS,
  checkPath,
  isThisMachine,
  parseAddress,
  readAppOptions,
  requestOf,
  resolveVariable,
} from '../app-arguments.js'
import type { CommandIo } from '../command-io.js'
import { createPluginRequest } from './plugin-requests.js'

const repeated = { type: 'string', multiple: true, default: [] as string[] } as const

/** The options of `countersign attack`. */
export const ATTACK_OPTIONS = {
  ...APP_OPTIONS,
  inbox: { type: 'string' },
  totp: { type: 'string' },
  factor: { type: 'string' },
  request: { type: 'string' },
  verify: { type: 'string' },
  'other-sign-in': { type: 'string' },
  'other-totp': { type: 'string' },
  login: repeated,
  change: repeated,
  stricter: repeated,
  remember: { type: 'string' },
  'sign-out': { type: 'string' },
  reset: { type: 'string' },
  'operator-sign-in': { type: 'string' },
  'operator-totp': { type: 'string' },
  skip: repeated,
  relay: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof ATTACK_OPTIONS }>>['values']

/**
 * Reads what the options say about an app, and how its users sign in with both factors.
 * @throws {Error} for an argument that cannot be used, and for an app that is not on this machine.
 */
export async function readTarget(address: string, values: Values, io: CommandIo) {
  const url = await loopbackAddress(address)
  const { body, factor, verify } = values
  const inbox = values.inbox === undefined ? undefined : resolveVariable('inbox', values.inbox, io)
  if (values.provider !== undefined) await loopbackAddress(values.provider)
  const check: AppCheck = { ...(await readAppOptions(values, io)), url }
  const { provider } = check.signIn
  if (check.protectedPaths.length === 0)
    throw new Error('Name a page that only signed-in users may see: --protected /account.')
  const read = async (
    name: 'request' | 'verify' | 'other-sign-in' | 'sign-out' | 'reset' | 'operator-sign-in',
  ) => (values[name] === undefined ? undefined : requestOf(name, values[name], { body, provider }, io))
  const readAll = (name: 'login' | 'change') =>
    Promise.all(values[name].map((text) => requestOf(name, text, { body, provider }, io)))
  const readSecret = (name: 'totp' | 'other-totp' | 'operator-totp') =>
    values[name] === undefined ? undefined : resolveVariable(name, values[name], io)
  const isPlugin = verify === undefined
  const remember = values.remember ?? (isPlugin ? 'trust=true' : undefined)
  const readUser = async (name: 'other' | 'operator') => {
    const signIn = await read(`${name}-sign-in`)
    return signIn && { signIn: { ...signIn, page: check.signIn.page }, totp: readSecret(`${name}-totp`) }
  }
  return {
    check,
    /** Without `totp`, codes are sent and read in `inbox`. */
    user: { signIn: check.signIn, totp: readSecret('totp') },
    /** The attacker's own account. */
    other: await readUser('other'),
    /** Without it, no code needs to be requested. */
    request: isPlugin ? createPluginRequest(check.path, 'challenge') : await read('request'),
    /** Submits a code, as the field whose value is `{code}`. */
    verify: (await read('verify')) ?? createPluginRequest(check.path, 'verify', { code: '{code}' }),
    isPlugin,
    factor,
    inbox: inbox?.startsWith('/')
      ? new URL(checkPath(inbox), url)
      : inbox === undefined
        ? undefined
        : await loopbackAddress(inbox),
    signOut: (await read('sign-out')) ?? { method: 'POST', path: '/logout', fields: {}, body: 'form' },
    reset: await read('reset'),
    /** Who resets accounts. */
    operator: await readUser('operator'),
    logins: await readAll('login'),
    changes: await readAll('change'),
    stricter: values.stricter.map(checkPath),
    remember: remember === undefined ? undefined : Object.fromEntries(new URLSearchParams(remember)),
  }
}

/** A running app, and how its users sign in with both factors. */
export type AttackTarget = Awaited<ReturnType<typeof readTarget>>

/**
 * The address of an app on this machine. A name must lead to this machine only.
 * @throws {Error} for every other address.
 */
export async function loopbackAddress(
  text: string,
  resolve: (name: string) => Promise<readonly { readonly address: string }[]> = (name) =>
    lookup(name, { all: true }),
): Promise<URL> {
  const url = parseAddress(text)
  const found = isThisMachine(url) ? await resolve(url.hostname.replace(/^\[|\]$/g, '')).catch(() => []) : []
  const isHere = ({ address }: { readonly address: string }) =>
    isThisMachine(new URL(address.includes(':') ? `http://[${address}]` : `http://${address}`))
  if (found.length > 0 && found.every(isHere)) return url
  throw new Error(`${url.hostname} is not this machine, and countersign attack attacks no other.`)
}
