import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import type { Settings } from '../../options/settings.js'
import { getTokenLogin } from '../../session/transport.js'
import { cookieReader, nameCookie, setCookie } from './cookies.js'

/*
 * Texts that a page shows later are kept in the session, encrypted; the key is in a cookie. Neither the session store nor the browser
 * alone has the secret (R10, R53).
 */

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Where the pages are that open a seal, and for which table of users. */
type CookieSettings = Pick<Settings, 'users' | 'urls'>

/** Encrypts texts under keys that only a browser has. */
export interface BrowserSeal {
  /** Encrypts a text, and gives the browser the key for `lifetimeMs`. `id` is needed to open it. */
  seal(
    exchange: { readonly req: Request; readonly res: Response },
    text: string,
    scope: { readonly id: string; readonly settings: CookieSettings; readonly lifetimeMs: number },
  ): string
  /** The text, if this browser has the key. */
  open(
    req: Request,
    sealed: string | undefined,
    scope: { readonly id: string; readonly settings: CookieSettings },
  ): string | undefined
  forget(res: Response, settings: CookieSettings): void
}

/** A seal whose key is in the cookie with this name. */
export function browserSeal(cookie: string): BrowserSeal {
  const keyIn = cookieReader(cookie, /[\w-]{43}/)
  return {
    seal({ req, res }, text, { id, settings: { users, urls }, lifetimeMs }) {
      const key = randomBytes(32)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      setCookie(req, res, nameCookie(users, cookie), key.toString('base64url'), urls.path, lifetimeMs)
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(req, sealed, { id, settings: { users } }) {
      const key = keyIn(req, users)
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
    forget(res, { users, urls }) {
      if (!getTokenLogin(res.req)) res.clearCookie(nameCookie(users, cookie), { path: urls.path })
    },
  }
}
