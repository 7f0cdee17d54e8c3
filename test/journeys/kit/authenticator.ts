import { Secret, TOTP, URI } from 'otpauth'
import type { Page } from 'playwright-core'
import { readQrCode } from '../../kit/qr-code.js'

/** The code that an authenticator app with this base32 secret shows now. */
export function appCode(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate()
}

/** Reads the QR code of a page from the screen, as a phone does. */
export async function scan(page: Page): Promise<{ secret: string; issuer: string }> {
  const screen = await page.getByRole('img', { name: /QR/i }).screenshot()
  const { secret, issuer } = URI.parse(readQrCode(`data:image/png;base64,${screen.toString('base64')}`))
  return { secret: secret.base32, issuer }
}
