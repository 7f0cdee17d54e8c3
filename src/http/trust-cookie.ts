import type { Request } from 'express'
import { requestState } from '../session/request-state.js'
import type { Entry } from '../trust/devices.js'

/** Users of one browser whose trust its cookie holds; the longest unused make room. */
const MOST_ENTRIES = 8

/** Entries that are looked at, in case a neighbouring site has planted cookies of the same name. */
const MOST_READ = 24

/** The cookie of a browser: one entry for each of its users, the newest first. */
export interface TrustCookie {
  read(req: Request): readonly Entry[]
  /** Adds an entry and leaves out the ones of these devices. */
  write(req: Request, entry: Entry | undefined, without: readonly string[]): void
}

/** The cookie of that name. */
export function trustCookie({
  name,
  maxAgeMs,
}: {
  readonly name: string
  readonly maxAgeMs: number
}): TrustCookie {
  const read = (req: Request) => requestState(req).deviceEntries ?? entriesIn(req.get('cookie') ?? '', name)

  return {
    read,
    write(req, entry, without) {
      const { res } = req
      if (!res || res.headersSent) return
      const gone = new Set([...without, entry?.id])
      const others = read(req).filter(({ id }) => !gone.has(id))
      const entries = [...(entry ? [entry] : []), ...others].slice(0, MOST_ENTRIES)
      requestState(req).deviceEntries = entries
      const options = { httpOnly: true, secure: req.secure, sameSite: 'lax', path: '/' } as const
      if (entries.length === 0) return void res.clearCookie(name, options)
      // The store decides when an entry ends (R65); the browser need not know it exactly.
      res.cookie(name, entries.map(({ id, token }) => `${id}.${token}`).join('~'), {
        ...options,
        maxAge: maxAgeMs,
      })
    },
  }
}

const ENTRY = /^([\w-]{22})\.([\w-]{43})$/

function entriesIn(header: string, name: string): Entry[] {
  const values = header.split(';').flatMap((pair) => {
    const [given = '', value = ''] = pair.trim().split('=', 2)
    return given === name ? [value] : []
  })
  return values
    .flatMap((value) => value.split('~', MOST_READ))
    .slice(0, MOST_READ)
    .flatMap((text) => {
      const [, id, token] = ENTRY.exec(text) ?? []
      return id && token ? [{ id, token }] : []
    })
}
