import type { Page } from 'playwright-core'
import type { KeyChanges, SoftwareAuthenticator } from '../../src/testing/index.js'

/*
 * A virtual authenticator of Chromium never creates a passkey without a prompt: Chromium waits for a password that it has saved and
 * filled in. So a script puts a software authenticator in the place of `navigator.credentials.create` with `mediation: 'conditional'`;
 * everything else is as the browser does it.
 */
const SCRIPT = `
  const alphabet = 'base64url'
  const text = (buffer) => new Uint8Array(buffer).toBase64({ alphabet, omitPadding: true })
  const bytes = (text) => Uint8Array.fromBase64(text, { alphabet }).buffer
  const withTextId = (named) => ({ ...named, id: text(named.id) })
  const create = navigator.credentials.create.bind(navigator.credentials)
  navigator.credentials.create = async ({ mediation, publicKey, ...others }) => {
    if (mediation !== 'conditional') return create({ publicKey, ...others })
    const { error, created } = await createUnprompted({
      ...publicKey,
      challenge: text(publicKey.challenge),
      user: withTextId(publicKey.user),
      excludeCredentials: publicKey.excludeCredentials.map(withTextId),
    })
    if (error) throw new DOMException('no passkey was created', error)
    const { response, rawId, clientExtensionResults, ...credential } = created
    return {
      ...credential,
      rawId: bytes(rawId),
      getClientExtensionResults: () => clientExtensionResults,
      response: {
        clientDataJSON: bytes(response.clientDataJSON),
        attestationObject: bytes(response.attestationObject),
        getAuthenticatorData: () => bytes(response.authenticatorData),
        getPublicKey: () => bytes(response.publicKey),
        getPublicKeyAlgorithm: () => response.publicKeyAlgorithm,
        getTransports: () => response.transports,
      },
    }
  }
  PublicKeyCredential.signalUnknownCredential = async ({ credentialId }) => forget(credentialId)`

/** How a password manager answers: with a passkey, as it is or with changes, or with the error of this name. */
export type Reaction = { readonly changes: KeyChanges } | { readonly error: string }

/** Gives a page a password manager, and returns the ids of the passkeys that it was told to forget. */
export async function passwordManager(
  page: Page,
  device: SoftwareAuthenticator,
  reaction: Reaction,
): Promise<readonly string[]> {
  const forgotten: string[] = []
  await page.exposeFunction('createUnprompted', (options: object) => {
    if ('error' in reaction) return reaction
    const { origin } = new URL(page.url())
    return { created: device.create(options, { origin, changes: reaction.changes }) }
  })
  await page.exposeFunction('forget', (id: string) => void forgotten.push(id))
  await page.addInitScript(SCRIPT)
  return forgotten
}
