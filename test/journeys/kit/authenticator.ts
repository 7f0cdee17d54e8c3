import jsqr from 'jsqr'
import { Secret, TOTP, URI } from 'otpauth'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'

/** What an authenticator app with this base32 secret shows, `steps` of 30 seconds from now. */
export function appCode(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}

/** Reads the QR code that a page shows as an image, as a telephone does. */
export async function scan(page: Page): Promise<{ secret: string; issuer: string }> {
  const source = await page.getByRole('img', { name: /QR/i }).getAttribute('src')
  const base64 = /^data:image\/png;base64,(.+)$/.exec(source ?? '')?.[1] ?? ''
  const picture = PNG.sync.read(Buffer.from(base64, 'base64'))
  // jsqr is a CommonJS module whose types promise a default export of its own.
  const decode = jsqr as unknown as typeof jsqr.default
  const found = decode(new Uint8ClampedArray(picture.data), picture.width, picture.height)
  if (!found) throw new Error('there is no QR code to be read')
  const { secret, issuer } = URI.parse(found.data)
  return { secret: secret.base32, issuer }
}
