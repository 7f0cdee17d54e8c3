import * as z from 'zod'
import { KEY_FAULTS, KEY_MEDIATIONS, KEY_PURPOSES } from './keys.js'
import { KEY_TYPES } from './methods.js'
import { approval, caller, hasApproval, oneOf, parsedJson, seconds, text, user } from './wire-parts.js'

/*
 * Examples for the description of the HTTP API.
 */

const id = 'UMO8h7MH5l-_U2aenrpM9ID4Af23BUvXEilftrUGZTc'

const exampleCredential = {
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'cross-platform',
  clientExtensionResults: {},
} as const

/** A credential id. */
export const credentialIdExample: string = id

/** A new credential, as a browser writes it. */
export const registrationExample = {
  ...exampleCredential,
  response: {
    clientDataJSON:
      'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoid1hKNXRTQlduaDFNcDBybGJoRWNCUVo3WV94aFF3WGU0bklxRDduUXZLayIsIm9yaWdpbiI6Imh0dHBzOi8vYXBwLmV4YW1wbGUuY29tIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ',
    attestationObject:
      'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViko3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUdFAAAAAQAAAAAAAAAAAAAAAAAAAAAAIFDDvIezB-Zfv1Nmnp66TPSA-AH9twVL1xIpX7a1BmU3pQECAyYgASFYILdlrGuScPE0aR49s4dyLyksHaONvStPaHAM-dTcn9-VIlggxlKTweoYn1_V5Ln6BM0cKGwINoPQrMPRQYnrmNJbK_0',
    transports: ['usb'],
  },
}

/** An assertion, as a browser writes it. */
export const assertionExample = {
  ...exampleCredential,
  response: {
    clientDataJSON:
      'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoid1hKNXRTQlduaDFNcDBybGJoRWNCUVo3WV94aFF3WGU0bklxRDduUXZLayIsIm9yaWdpbiI6Imh0dHBzOi8vYXBwLmV4YW1wbGUuY29tIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ',
    authenticatorData: 'o3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUcFAAAAAg',
    signature:
      'MEUCIEVueni-qfpD30Zkcxd03iUMhpfyiqyLg_bgCTsjGMpGAiEAkQx-k6hrKSv8Qe1VuweJHkY7ruDiCK1PSmIkyd6NMKo',
    userHandle: 'n8G4u0yq3m2r1kYVb0s6Jc7e5pZQxT9dLhWf2AaXo1U',
  },
}

/*
 * The bodies of the HTTP API for security keys and passkeys. The published API names security keys among its methods and shows no
 * format, so all of these are our service's additions.
 */

const MAX_CREDENTIAL_ID = 1_364
const MAX_ATTESTATION = 24_000

const base64url = (max: number) =>
  z
    .string({ error: 'must be text in base64url' })
    .min(1, { error: 'must not be empty' })
    .max(max, { error: `must be at most ${max} characters` })
    .regex(/^[A-Za-z0-9_-]+$/, { error: 'must be base64url without padding' })

/** A credential id (WebAuthn §4): at most 1023 bytes, in base64url. */
export const credentialId = base64url(MAX_CREDENTIAL_ID)

const clientData = base64url(8_000).meta({ description: 'The client data, JSON in base64url.' })
const extensions = z.record(z.string().max(64), z.unknown(), { error: 'must be an object' })
const attachment = z.enum(['platform', 'cross-platform']).nullish()

// Browsers may send names that no specification lists yet. They are stored.
const transport = z
  .string()
  .min(1)
  .max(32)
  .regex(/^[!-~]*$/, { error: 'must be printable characters' })

const credential = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key', { error: 'must be "public-key"' }),
  authenticatorAttachment: attachment,
  clientExtensionResults: extensions,
}

/** `RegistrationResponseJSON` of WebAuthn §5.1, and nothing else. */
export const registrationResponse = z
  .strictObject(
    {
      ...credential,
      response: z.strictObject({
        clientDataJSON: clientData,
        attestationObject: base64url(MAX_ATTESTATION),
        authenticatorData: base64url(8_000).optional(),
        transports: z.array(transport).max(10).optional(),
        publicKeyAlgorithm: z.int().optional(),
        publicKey: base64url(8_000).optional(),
      }),
    },
    { error: 'must be the JSON of a new credential' },
  )
  .meta({ description: 'The new credential, as its `toJSON` writes it.', examples: [registrationExample] })

/** `AuthenticationResponseJSON` of WebAuthn §5.1, and nothing else. */
export const authenticationResponse = z
  .strictObject(
    {
      ...credential,
      response: z.strictObject({
        clientDataJSON: clientData,
        authenticatorData: base64url(8_000),
        signature: base64url(8_000),
        userHandle: base64url(128).nullish(),
      }),
    },
    { error: 'must be the JSON of an assertion' },
  )
  .meta({ description: 'The assertion, as its `toJSON` writes it.', examples: [assertionExample] })

/** A new credential as an object or, in a form, as JSON text. */
export const registrationField = z.preprocess(parsedJson, registrationResponse)

/** An assertion as an object or, in a form, as JSON text. */
export const authenticationField = z.preprocess(parsedJson, authenticationResponse)

const type = oneOf(KEY_TYPES).meta({
  description:
    'SECURITY_KEY proves possession; PASSKEY also requires that the authenticator verifies the user.',
})
const transaction = text(128)
  .optional()
  .meta({
    description:
      'Your id for what the challenge is used for, such as a pending login. The response is accepted in the same transaction only.',
    examples: ['login-7f3a'],
  })
const purpose = oneOf(KEY_PURPOSES).optional().meta({
  description:
    'What the assertion is for. The response is accepted for the same purpose only. Defaults to `sign-in`.',
})
const key = credentialId.meta({ description: 'The id of the key.', examples: [credentialIdExample] })

// Notices quote the name. It must not break their lines or turn the direction of their text, as if they said something else.
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u

/** Whether a text can be the user's name for a key: one line, without characters that turn the direction of text. */
export function isKeyName(name: string): boolean {
  return ONE_LINE.test(name)
}

/** What is wrong with a text that is no name for a key. */
export const NO_KEY_NAME = 'must be one line of text without control characters'

/** The user's name for a key. */
export const keyName = text(60)
  .refine(isKeyName, { error: NO_KEY_NAME })
  .meta({
    description: "The user's name for the key.",
    examples: ['Blue YubiKey'],
  })

/** The body of `POST /v1/mfa/keys/registration/options`. */
export const keyRegistrationOptionsBody = z
  .object({
    User: user,
    Type: type.meta({ examples: ['PASSKEY'] }),
    Transaction: transaction,
    UserName: text(320)
      .optional()
      .meta({
        description: 'The name of the account that the authenticator shows. Defaults to `User`.',
        examples: ['ann@example.com'],
      }),
    Mediation: oneOf(KEY_MEDIATIONS).optional().meta({
      description:
        '`conditional` for a PASSKEY that the password manager creates without a prompt: the response need not say that the user was present and verified. Pass the same `mediation` to `navigator.credentials.create`.',
    }),
    ...caller,
  })
  .refine(({ Type, Mediation }) => Mediation === undefined || Type === 'PASSKEY', {
    path: ['Mediation'],
    error: 'can be given for PASSKEY only',
  })

/** The body of `POST /v1/mfa/keys/registration/verify`. `Response` is an object; in a form, its JSON. */
export const registerKeyBody = z.object({
  User: user,
  Type: type,
  Transaction: transaction,
  Name: keyName.optional(),
  Response: registrationField,
  ...caller,
})

/** The body of `POST /v1/mfa/keys/authentication/options`. */
export const keyAuthenticationOptionsBody = z
  .object({
    User: user,
    Type: type,
    Purpose: purpose,
    Transaction: transaction,
    Approval: approval,
    ...caller,
  })
  .refine(hasApproval.check, hasApproval.says)

/** The body of `POST /v1/mfa/keys/authentication/verify`. `Response` is an object; in a form, its JSON. */
export const authenticateKeyBody = z
  .object({
    User: user,
    Type: type,
    Purpose: purpose,
    Transaction: transaction,
    Approval: approval,
    Response: authenticationField,
    ...caller,
  })
  .refine(hasApproval.check, hasApproval.says)

/** The body of `POST /v1/mfa/keys/list`. */
export const listKeysBody = z.object({ User: user, ...caller })

/** The body of `POST /v1/mfa/keys/rename`. */
export const renameKeyBody = z.object({ User: user, Key: key, Name: keyName, ...caller })

/** The body of `POST /v1/mfa/keys/remove`. */
export const removeKeyBody = z.object({ User: user, Key: key, ...caller })

const time = z.iso.datetime()

/** A key in a response. */
export const keyAnswer = z.object({
  id: credentialId,
  type: z.enum(KEY_TYPES).meta({ description: 'The ceremony with which it was registered.' }),
  name: z.string().min(1).max(60),
  backup_eligible: z.boolean().meta({ description: 'Whether it can be synced to other devices.' }),
  backed_up: z.boolean().meta({ description: 'Whether it is synced at present.' }),
  created_at: time,
  last_used_at: time.optional().meta({ description: 'When it was last accepted.' }),
})

/** The response to the two `options` calls with status 200. */
export const keyOptionsAnswer = z.object({
  options: z
    .looseObject({ challenge: base64url(128) })
    .meta({ description: 'Pass it to `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.' }),
  expires_in: seconds.meta({ description: 'How many seconds the challenge is valid.', examples: [300] }),
})

/** The response to `POST /v1/mfa/keys/registration/verify` with status 200. */
export const registerKeyAnswer = z.object({ key: keyAnswer })

/** The response to `POST /v1/mfa/keys/authentication/verify` with status 200. */
export const authenticateKeyAnswer = z.object({
  valid: z.literal(true),
  key: keyAnswer,
  user_verified: z.boolean().meta({
    description: 'Whether the authenticator verified the user. This decides what was proven, not `Type`.',
  }),
})

/** The response to `POST /v1/mfa/keys/list` with status 200. */
export const listKeysAnswer = z.object({
  keys: z.array(keyAnswer),
  relying_party_id: z.string().min(1).max(253).optional(),
  user_handle: base64url(128).optional(),
})

/** The response to `POST /v1/mfa/keys/rename` with status 200. */
export const renameKeyAnswer = z.object({ renamed: z.boolean() })

/** The response to `POST /v1/mfa/keys/remove` with status 200. */
export const removeKeyAnswer = z.object({ removed: z.boolean() })

/** The response to `GET /v1/mfa/keys/relying-party` with status 200; 404 `not_found` if the application has none. */
export const relyingPartyAnswer = z.object({
  id: z.string().min(1).max(253),
  name: z.string().min(1).max(120),
  origins: z.array(z.string().max(300)),
  related_origins: z.array(z.string().max(300)),
})

/** Why a key was refused: the member `fault` of a problem with the code `invalid_key`. */
export const keyFault = z.enum(KEY_FAULTS)
