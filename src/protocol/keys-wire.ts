import * as z from 'zod'
import { KEY_FAULTS } from './keys.js'
import { createTextRule, parseJsonField } from './wire-parts.js'

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

/** Text of 1 to `max` characters in base64url. */
export const base64url = (max: number) =>
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
export const registrationField = z.preprocess(parseJsonField, registrationResponse)

/** An assertion as an object or, in a form, as JSON text. */
export const authenticationField = z.preprocess(parseJsonField, authenticationResponse)

// Notices quote the name. It must not break their lines or turn the direction of their text, as if they said something else.
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u

/** Whether a text can be the user's name for a key: one line, without characters that turn the direction of text. */
export function isKeyName(name: string): boolean {
  return ONE_LINE.test(name)
}

/** The fault of a text that is no name for a key. */
export const NO_KEY_NAME = 'must be one line of text without control characters'

/** The user's name for a key. */
export const keyName = createTextRule(60)
  .refine(isKeyName, { error: NO_KEY_NAME })
  .meta({ description: "The user's name for the key.", examples: ['Blue YubiKey'] })

/** Why a key was refused: the member `fault` of a problem with the code `invalid_key`. */
export const keyFault = z.enum(KEY_FAULTS)
