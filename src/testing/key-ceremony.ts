import * as z from 'zod'

/** The page on which a software authenticator is used. */
export interface KeyPage {
  /** The origin of the page, such as `https://app.example.com`. */
  readonly origin: string
  /** The origin of the page at the top if the page is in a frame of another site. */
  readonly topOrigin?: string | undefined
  /** The origins in `/.well-known/webauthn` of the relying party, which may use its id too. */
  readonly relatedOrigins?: readonly string[] | undefined
  /** The deviations of a broken or hostile browser or authenticator. The signature covers it. */
  readonly changes?: KeyChanges | undefined
}

/** The flags in the authenticator data. */
export interface KeyFlags {
  /** UP: the user was present. */
  readonly userPresent: boolean
  /** UV: the authenticator verified the user, with a PIN or biometrics. */
  readonly userVerified: boolean
  /** BE: the credential can be synced. */
  readonly backupEligible: boolean
  /** BS: the credential is synced. */
  readonly backedUp: boolean
}

/** The deviations of a broken or hostile browser or authenticator. */
export interface KeyChanges {
  /** Fields of the client data: `type`, `challenge`, `origin`, `crossOrigin`, `topOrigin` or others. */
  readonly clientData?: Readonly<Record<string, unknown>> | undefined
  /** The relying party's id that the authenticator hashes. */
  readonly rpId?: string | undefined
  /** Flags of the authenticator data. */
  readonly flags?: Partial<KeyFlags> | undefined
  /** The signature counter. */
  readonly counter?: number | undefined
}

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, { error: 'must be base64url without padding' })
const descriptors = z.array(z.looseObject({ id: base64url, type: z.string() })).default([])
const requirement = z.enum(['discouraged', 'preferred', 'required'])
const extensions = z.looseObject({ credProps: z.boolean().optional() }).default({})

const creationOptions = z.looseObject({
  challenge: base64url,
  rp: z.looseObject({ id: z.string().optional(), name: z.string() }),
  user: z.looseObject({ id: base64url.max(86), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.looseObject({ type: z.string(), alg: z.int() })),
  excludeCredentials: descriptors,
  authenticatorSelection: z
    .looseObject({
      authenticatorAttachment: z.enum(['platform', 'cross-platform']).optional(),
      residentKey: requirement.optional(),
      requireResidentKey: z.boolean().default(false),
      userVerification: requirement.default('preferred'),
    })
    .prefault({}),
  attestation: z.string().default('none'),
  extensions,
})

const requestOptions = z.looseObject({
  challenge: base64url,
  rpId: z.string().optional(),
  allowCredentials: descriptors,
  userVerification: requirement.default('preferred'),
  extensions,
})

/** `PublicKeyCredentialCreationOptionsJSON` with the defaults of the specification. */
export type CreationOptions = z.output<typeof creationOptions>

/** Reads `PublicKeyCredentialCreationOptionsJSON`. @throws `TypeError`, as a browser does. */
export function readCreationOptions(options: object): CreationOptions {
  return read(creationOptions, options)
}

/** Reads `PublicKeyCredentialRequestOptionsJSON`. @throws `TypeError`, as a browser does. */
export function readRequestOptions(options: object): z.output<typeof requestOptions> {
  return read(requestOptions, options)
}

function read<Options>(schema: z.ZodType<Options>, options: object): Options {
  const result = schema.safeParse(options)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new TypeError(`The WebAuthn options are invalid: ${issue?.path.join('.')} ${issue?.message}`)
}

/** The relying party's id for a page, by default its host. @throws `SecurityError` for another site's. */
export function findRelyingParty({ origin, relatedOrigins = [] }: KeyPage, rpId: string | undefined): string {
  const { protocol, hostname, origin: normalized } = new URL(origin)
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  // A browser accepts no IP address as the id of a relying party.
  const isDomain = !/^[\d.]+$|^\[/.test(hostname)
  const id = rpId ?? hostname
  const isCovered = hostname === id || hostname.endsWith(`.${id}`) || relatedOrigins.includes(normalized)
  if (isSecure && isDomain && isCovered) return id
  throw new DOMException(`The page ${origin} cannot use the relying party "${id}".`, 'SecurityError')
}

/** The client data of a ceremony (WebAuthn §5.8.1), in the order in which browsers write it. */
export function encodeClientData(
  type: 'webauthn.create' | 'webauthn.get',
  challenge: string,
  page: KeyPage,
): Buffer {
  const { origin, topOrigin, changes = {} } = page
  const crossOrigin = topOrigin !== undefined
  const data = {
    type,
    challenge,
    origin,
    crossOrigin,
    ...(crossOrigin && { topOrigin }),
    ...changes.clientData,
  }
  return Buffer.from(JSON.stringify(data))
}
