import jsqr from 'jsqr'
import { Secret, TOTP, URI } from 'otpauth'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'

/** The code of an authenticator app with this base32 secret, `steps` of 30 seconds from now. */
export function appCode(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
}

/** Reads the QR code of a page from its image. */
export async function scan(page: Page): Promise<{ secret: string; issuer: string }> {
  const source = await page.getByRole('img', { name: /QR/i }).getAttribute('src')
  const base64 = /^data:image\/png;base64,(.+)$/.exec(source ?? '')?.[1] ?? ''
  const image = PNG.sync.read(Buffer.from(base64, 'base64'))
  // jsqr is a CommonJS module whose types promise a default export of its own.
  const decode = jsqr as unknown as typeof jsqr.default
  const found = decode(new Uint8ClampedArray(image.data), image.width, image.height)
  if (!found) throw new Error('the image has no readable QR code')
  const { secret, issuer } = URI.parse(found.data)
  return { secret: secret.base32, issuer }
}
