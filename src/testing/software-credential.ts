/** A credential that a software authenticator stores. */
export interface SoftwareCredential {
  /** The credential id, in base64url. */
  readonly id: string
  /** The relying party's id. */
  readonly rpId: string
  /** The id of the account, in base64url. */
  readonly userHandle: string
  /** Whether it is found without its id. */
  readonly isDiscoverable: boolean
  /** The signature counter after the last signature; 0 if the authenticator does not count. */
  readonly counter: number
}

/** The JSON of a new credential, as `PublicKeyCredential.toJSON()` writes it. */
export type SoftwareRegistration = {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly authenticatorAttachment: 'platform' | 'cross-platform'
  readonly clientExtensionResults: { readonly credProps?: { readonly rk: boolean } }
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly authenticatorData: string
    readonly transports: ('usb' | 'internal' | 'hybrid')[]
    readonly publicKeyAlgorithm: number
    readonly publicKey: string
  }
}

/** The JSON of an assertion, as `PublicKeyCredential.toJSON()` writes it. */
export type SoftwareAssertion = {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly authenticatorAttachment: 'platform' | 'cross-platform'
  readonly clientExtensionResults: Record<string, never>
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string
  }
}
