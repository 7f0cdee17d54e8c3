/*
 * A key for the tests of applications. Its private key is in the README, so that everyone can sign with it: the JWK with
 * "d": "TSWirKld_o8CPsgFPS8XRNWiwjeigf_Arf4NH1dejFs".
 */

const X = 'iSmtrS0R1ZlzDM9yopLMPeVMFkiZY_fbi8YW7xzchl8'
const Y = '8jONTw6vYwBU2icRStX7Ezh3jG8N8toEEnxZObxKonI'

/** The key that is accepted for every account of test API keys, without a registration. */
export const TEST_KEY = {
  /** The credential id: `countersign software key for tests`, in base64url. */
  id: 'Y291bnRlcnNpZ24gc29mdHdhcmUga2V5IGZvciB0ZXN0cw',
  /** The COSE key, in base64url (ES256). */
  publicKey: Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(X, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(Y, 'base64url'),
  ]).toString('base64url'),
  name: 'Test key',
} as const

/** Whether a credential is the test key, under whatever id. */
export function isTestKey({ id, publicKey }: { readonly id: string; readonly publicKey: string }): boolean {
  return id === TEST_KEY.id || Buffer.from(publicKey, 'base64url').includes(Buffer.from(X, 'base64url'))
}
