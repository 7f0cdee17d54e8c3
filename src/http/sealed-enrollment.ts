import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import * as z from 'zod'
import { cookieReader } from './request.js'

/*
 * An enrollment page can be loaded again, on another process too, so QR code and key are kept for as long. They are in the
 * session, encrypted; the key is in a cookie. Neither the session store nor the browser alone has the secret (R10, R53).
 */

const COOKIE = 'mfa_enrollment'
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The longest QR code that is kept. A longer one is shown as a key only when the page is loaded again. */
const MAX_QR_LENGTH = 20_000

const shown = z.object({
  qr: z.string().optional(),
  uri: z.string().optional(),
  secret: z.string().optional(),
})

/** What the user needs to set up an authenticator app. */
export interface ShownEnrollment {
  readonly qr?: string
  readonly uri?: string
  readonly secret?: string
}

/** Encrypts what an enrollment page shows, and gives the browser the key for `lifetimeMs`. */
export function sealEnrollment(
  { req, res }: { readonly req: Request; readonly res: Response },
  { qr, ...rest }: ShownEnrollment,
  { id, path, lifetimeMs }: { readonly id: string; readonly path: string; readonly lifetimeMs: number },
): string {
  const kept = qr !== undefined && qr.length <= MAX_QR_LENGTH ? { ...rest, qr } : rest
  const key = randomBytes(32)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id))
  const text = Buffer.concat([cipher.update(JSON.stringify(kept), 'utf8'), cipher.final()])
  const cookie = { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge: lifetimeMs } as const
  res.cookie(COOKIE, key.toString('base64url'), cookie)
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
}

const keyIn = cookieReader(COOKIE, /[\w-]{43}/)

/** What the enrollment page shows, if this browser has the key; otherwise nothing. */
export function openEnrollment(req: Request, sealed: string | undefined, id: string): ShownEnrollment {
  const key = keyIn(req)
  if (key === undefined || sealed === undefined) return {}
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  try {
    const decipher = createDecipheriv(ALGORITHM, Buffer.from(key, 'base64url'), nonce, {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    const kept = shown.parse(JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8')))
    return {
      ...(kept.qr && { qr: kept.qr }),
      ...(kept.uri && { uri: kept.uri }),
      ...(kept.secret && { secret: kept.secret }),
    }
  } catch {
    // The cookie belongs to another enrollment, or was changed.
    return {}
  }
}

/** Removes the key from the browser. */
export function forgetEnrollment(res: Response, path: string): void {
  res.clearCookie(COOKIE, { path })
}
