import type { BrowserExchange } from '../../session/state.js'
import { tokenLoginOf } from '../../session/transport.js'
import type { Entry } from '../../stores/trust/devices.js'
import { setCookie } from './cookies.js'

/** How many users of one browser can trust it; the entry that was unused for longest is dropped. */
const MAX_ENTRIES = 8

/** How many entries are read. More than `MAX_ENTRIES`, since a site on a sibling domain can set cookies of the same name. */
const MAX_READ = 24

/** The trusted-device cookie of a browser: one entry for each user, the newest first. */
export interface TrustCookie {
  read(exchange: BrowserExchange): readonly Entry[]
  /** Adds an entry, if there is one, and removes the entries of the devices in `without`. */
  write(exchange: BrowserExchange, entry: Entry | undefined, without: readonly string[]): void
}

/** The trusted-device cookie with that name. */
export function trustCookie(name: string, maxAgeMs: number): TrustCookie {
  const read = ({ req, shared }: BrowserExchange) => {
    if (shared.deviceEntries) return shared.deviceEntries
    return tokenLoginOf(req)
      ? entriesOf([req.get('mfa-device') ?? ''])
      : entriesIn(req.get('cookie') ?? '', name)
  }

  return {
    read,
    write(exchange, entry, without) {
      const { req, shared } = exchange
      const { res } = req
      if (!res || res.headersSent) return
      const gone = new Set([...without, entry?.id])
      const others = read(exchange).filter(({ id }) => !gone.has(id))
      const entries = [...(entry ? [entry] : []), ...others].slice(0, MAX_ENTRIES)
      shared.deviceEntries = entries
      if (tokenLoginOf(req)) return
      if (entries.length === 0)
        return void res.clearCookie(name, { httpOnly: true, secure: req.secure, sameSite: 'lax', path: '/' })
      // The store decides when an entry expires (R65); the cookie may live longer.
      setCookie(req, res, name, textOf(entries), '/', maxAgeMs)
    },
  }
}

function textOf(entries: readonly Entry[]): string {
  return entries.map(({ id, token }) => `${id}.${token}`).join('~')
}

/** The value that a client without cookies keeps of its trusted device, and sends as `MFA-Device`; empty if this answer changes nothing. */
export function deviceIn({ deviceEntries }: BrowserExchange['shared']): { readonly device?: string } {
  return deviceEntries ? { device: textOf(deviceEntries) } : {}
}

const ENTRY = /^([\w-]{22})\.([\w-]{43})$/

function entriesIn(header: string, name: string): Entry[] {
  const values = header.split(';').flatMap((pair) => {
    const [given = '', value = ''] = pair.trim().split('=', 2)
    return given === name ? [value] : []
  })
  return entriesOf(values)
}

function entriesOf(values: readonly string[]): Entry[] {
  return values
    .flatMap((value) => value.split('~', MAX_READ))
    .slice(0, MAX_READ)
    .flatMap((text) => {
      const [, id, token] = ENTRY.exec(text) ?? []
      return id && token ? [{ id, token }] : []
    })
}
