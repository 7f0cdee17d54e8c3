import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import { type MfaUser, offeredFactors } from '../../flows/user.js'
import type { FactorView } from '../../pages/view.js'
import { maskForOwner } from '../../protocol/contact.js'
import { type Factor, type Strength, strengthOf } from '../../protocol/factor.js'
import type { BrowserExchange } from '../../session/state.js'
import type { Entry } from '../../stores/trust/devices.js'
import { cookieReader, setCookie, YEAR_MS } from './request.js'

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
  const read = ({ req, shared }: BrowserExchange) =>
    shared.deviceEntries ?? entriesIn(req.get('cookie') ?? '', name)

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
      if (entries.length === 0)
        return void res.clearCookie(name, { httpOnly: true, secure: req.secure, sameSite: 'lax', path: '/' })
      // The store decides when an entry expires (R65); the cookie may live longer.
      setCookie(req, res, name, entries.map(({ id, token }) => `${id}.${token}`).join('~'), '/', maxAgeMs)
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
    .flatMap((value) => value.split('~', MAX_READ))
    .slice(0, MAX_READ)
    .flatMap((text) => {
      const [, id, token] = ENTRY.exec(text) ?? []
      return id && token ? [{ id, token }] : []
    })
}

/*
 * What a page shows later is kept in the session, encrypted; the key is in a cookie. Neither the session store nor the browser
 * alone has the secret (R10, R53).
 */

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts texts under keys that only a browser has. */
export interface BrowserSeal {
  /** Encrypts a text, and gives the browser the key for `lifetimeMs`. `id` is needed to open it. */
  seal(
    exchange: { readonly req: Request; readonly res: Response },
    text: string,
    scope: { readonly id: string; readonly path: string; readonly lifetimeMs: number },
  ): string
  /** The text, if this browser has the key. */
  open(req: Request, sealed: string | undefined, id: string): string | undefined
  forget(res: Response, path: string): void
}

/** A seal whose key is in the cookie with this name. */
export function browserSeal(cookie: string): BrowserSeal {
  const keyIn = cookieReader(cookie, /[\w-]{43}/)
  return {
    seal({ req, res }, text, { id, path, lifetimeMs }) {
      const key = randomBytes(32)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      setCookie(req, res, cookie, key.toString('base64url'), path, lifetimeMs)
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(req, sealed, id) {
      const key = keyIn(req)
      if (key === undefined || sealed === undefined) return undefined
      const bytes = Buffer.from(sealed, 'base64url')
      try {
        const decipher = createDecipheriv(
          ALGORITHM,
          Buffer.from(key, 'base64url'),
          bytes.subarray(0, NONCE_BYTES),
          { authTagLength: TAG_BYTES },
        )
        decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        // The cookie belongs to another text, or was changed.
        return undefined
      }
    },
    forget: (res, path) => void res.clearCookie(cookie, { path }),
  }
}

type MaskedFactor = Pick<FactorView, 'id' | 'method' | 'to' | 'label'>

/** A factor as pages and responses show it, with its contact masked (R46). */
export function factorView({ id, method, contact, label }: Factor): MaskedFactor {
  return { id, method, to: maskForOwner(contact), ...(label && { label }) }
}

/** A factor as JSON responses list it, with its strength; pages describe the strength in words (R48). */
export interface ListedFactor extends MaskedFactor {
  readonly strength: Strength
}

export function listFactors(factors: readonly Factor[]): ListedFactor[] {
  return factors.map((factor) => ({ ...factorView(factor), strength: strengthOf(factor.method) }))
}

/** What is offered of accepted factors and backup codes, as responses list it: what is not disabled. */
export function offeredChoice(
  user: MfaUser,
  { factors, backup }: { readonly factors: readonly Factor[]; readonly backup: boolean },
) {
  const offered = new Set(offeredFactors(user))
  return {
    factors: listFactors(factors.filter((factor) => offered.has(factor))),
    backup: backup && !user.disabled?.has('backup'),
  }
}

const COOKIE = 'mfa_last'

/** The factor that was last used in this browser, offered first the next time. It proves nothing. */
export const lastUsedFactor = cookieReader(COOKIE, /[a-z0-9_-]{1,32}/)

/** Remembers the factor that was used, for this package's routes only (R11). */
export function rememberUsedFactor(req: Request, res: Response, factorId: string, path: string): void {
  setCookie(req, res, COOKIE, factorId, path, YEAR_MS)
}

const OFFER_COOKIE = 'mfa_key_offer'

const hasOfferCookie = cookieReader(OFFER_COOKIE, /1/)

/** Whether this browser was offered a passkey lately. The cookie identifies no user and proves nothing. */
export function wasOfferedKey(req: Request): boolean {
  return hasOfferCookie(req) !== undefined
}

/** Remembers for that long that this browser was offered a passkey, for this package's routes only (R11). */
export function rememberKeyOffer(req: Request, res: Response, path: string, maxAge: number): void {
  setCookie(req, res, OFFER_COOKIE, '1', path, maxAge)
}
