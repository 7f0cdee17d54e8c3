import type { Request } from 'express'
import { getTokenLogin } from '../../session/transport.js'
import type { Entry } from '../../stores/trust/devices.js'
import { setCookie } from './cookies.js'

/** How many users of one browser can trust it; the entry that was unused for longest is dropped. */
const MAX_ENTRIES = 8

/** How many entries are read. More than `MAX_ENTRIES`, since a site on a sibling domain can set cookies of the same name. */
const MAX_READ = 24

/** The trusted-device cookie of a browser: one entry for each user, the newest first. */
export interface TrustCookie {
  /** Its entries, as the response leaves them. */
  read(req: Request): readonly Entry[]
  /** Adds an entry, if there is one, and removes the entries of the devices in `without`. */
  write(req: Request, entry: Entry | undefined, without: readonly string[]): void
}

/** The trusted-device cookie with that name. */
export function trustCookie(name: string, maxAgeMs: number): TrustCookie {
  const read = (req: Request) => {
    const login = getTokenLogin(req)
    if (login) return parseEntries([login.device ?? req.get('mfa-device') ?? ''])
    const set = [req.res?.getHeader('set-cookie') ?? []].flat().map(String)
    const latest = set.findLast((cookie) => cookie.startsWith(`${name}=`)) ?? req.get('cookie') ?? ''
    return readEntries(latest, name)
  }

  return {
    read,
    write(req, entry, without) {
      const { res } = req
      if (!res || res.headersSent) return
      const gone = new Set([...without, entry?.id])
      const others = read(req).filter(({ id }) => !gone.has(id))
      const entries = [...(entry ? [entry] : []), ...others].slice(0, MAX_ENTRIES)
      const login = getTokenLogin(req)
      if (login) login.device = writeEntries(entries)
      else if (entries.length === 0)
        return void res.clearCookie(name, { httpOnly: true, secure: req.secure, sameSite: 'lax', path: '/' })
      // The store decides when an entry expires (R65); the cookie may live longer.
      else setCookie(req, res, name, writeEntries(entries), '/', maxAgeMs)
    },
  }
}

function writeEntries(entries: readonly Entry[]): string {
  return entries.map(({ id, token }) => `${id}.${token}`).join('~')
}

const ENTRY = /^([\w-]{22})\.([\w-]{43})$/

function readEntries(header: string, name: string): Entry[] {
  const values = header.split(';').flatMap((pair) => {
    const [given = '', value = ''] = pair.trim().split('=', 2)
    return given === name ? [value] : []
  })
  return parseEntries(values)
}

function parseEntries(values: readonly string[]): Entry[] {
  return values
    .flatMap((value) => value.split('~', MAX_READ))
    .slice(0, MAX_READ)
    .flatMap((text) => {
      const [, id, token] = ENTRY.exec(text) ?? []
      return id && token ? [{ id, token }] : []
    })
}
