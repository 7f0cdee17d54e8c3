import type { CDPSession, Page } from 'playwright-core'

/** The kind of a virtual authenticator. Defaults to a passkey provider of this device, which verifies the user and syncs. */
export interface AuthenticatorKind {
  readonly transport?: 'usb' | 'internal'
  readonly hasResidentKey?: boolean
  readonly hasUserVerification?: boolean
  readonly synced?: boolean
}

interface StoredCredential {
  readonly credentialId: string
  readonly userName?: string
  readonly isResidentCredential: boolean
}

/** The virtual authenticators of a page, through the DevTools protocol of Chromium. */
export async function virtualAuthenticators(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  return {
    async add(kind: AuthenticatorKind = {}) {
      const {
        transport = 'internal',
        hasResidentKey = true,
        hasUserVerification = true,
        synced = true,
      } = kind
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          ctap2Version: 'ctap2_1',
          transport,
          hasResidentKey,
          hasUserVerification,
          isUserVerified: hasUserVerification,
          automaticPresenceSimulation: true,
          defaultBackupEligibility: synced,
          defaultBackupState: synced,
        },
      })
      return {
        /** Its keys, with what it knows about each. */
        async keys(): Promise<readonly StoredCredential[]> {
          const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
          return credentials
        },
        /** Whether the user is recognized from now on. */
        verifyUser: (isUserVerified: boolean) =>
          cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
        /** Whether the user touches it by themselves. Of several, only one that is touched responds. */
        touch: (enabled: boolean) =>
          cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
        /** Unplugs it, with its keys. */
        remove: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
      }
    },
  }
}

/** A credential id of the DevTools protocol, in base64url. */
export function keyId({ credentialId }: StoredCredential): string {
  return Buffer.from(credentialId, 'base64').toString('base64url')
}
