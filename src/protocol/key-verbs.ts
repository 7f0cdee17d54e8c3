import * as z from 'zod'
import type { KeyVerbs } from './keys.js'
import {
  authenticateKeyAnswer,
  authenticateKeyBody,
  type keyAnswer,
  keyAuthenticationOptionsBody,
  keyOptionsAnswer,
  keyRegistrationOptionsBody,
  listKeysAnswer,
  listKeysBody,
  registerKeyAnswer,
  registerKeyBody,
  relyingPartyAnswer,
  removeKeyAnswer,
  removeKeyBody,
  renameKeyAnswer,
  renameKeyBody,
} from './keys-wire.js'
import { KEY_METHODS, KEY_TYPE, keyMethodOf } from './methods.js'
import type { Verb } from './verb.js'

/*
 * The table of the verbs for security keys and passkeys.
 */

/** The path above their routes. */
export const KEYS_PATH = '/v1/mfa/keys'

const text = (max: number) => z.string().min(1).max(max)
const time = z.number().nonnegative()

const key = z.object({
  id: text(1_364),
  method: z.enum(KEY_METHODS),
  name: text(60),
  backupEligible: z.boolean(),
  backedUp: z.boolean(),
  createdAt: time,
  lastUsedAt: time.optional(),
})

function decodeKey(wire: z.output<typeof keyAnswer>): z.input<typeof key> {
  return {
    id: wire.id,
    method: keyMethodOf(wire.type),
    name: wire.name,
    backupEligible: wire.backup_eligible,
    backedUp: wire.backed_up,
    createdAt: Date.parse(wire.created_at),
    ...(wire.last_used_at !== undefined && { lastUsedAt: Date.parse(wire.last_used_at) }),
  }
}

function encodeKey({ method, lastUsedAt, ...is }: z.output<typeof key>): z.input<typeof keyAnswer> {
  return {
    id: is.id,
    type: KEY_TYPE[method],
    name: is.name,
    backup_eligible: is.backupEligible,
    backed_up: is.backedUp,
    created_at: new Date(is.createdAt).toISOString(),
    ...(lastUsedAt !== undefined && { last_used_at: new Date(lastUsedAt).toISOString() }),
  }
}

const options = z.codec(
  keyOptionsAnswer,
  z.object({
    outcome: z.literal('prepared'),
    options: z.looseObject({ challenge: text(128) }),
    expiresInSeconds: z.number().positive(),
  }),
  {
    decode: ({ options, expires_in }) => ({
      outcome: 'prepared' as const,
      options,
      expiresInSeconds: expires_in,
    }),
    encode: ({ options, expiresInSeconds }) => ({ options, expires_in: expiresInSeconds }),
  },
)

const CHANGES = ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'] as const

// An attestation with its certificates (WebAuthn §6.5) takes up to 24 KB in base64url.
const MAX_CREDENTIAL_BYTES = 40_960

const tag = 'Security keys and passkeys'

/** What a service without keys answers to all that is about them. */
const shared = { part: 'checking', without: 'method_off' } as const

/** The verbs of `KeyVerbs`. */
export const KEY_VERBS = {
  registrationOptions: {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/registration/options`,
    body: keyRegistrationOptionsBody,
    answer: options,
    words: {
      id: 'prepareKeyRegistration',
      summary: 'Get the options for registering a key',
      description:
        'Creates a challenge for registering a security key or a passkey, which is valid for five minutes and once. Pass `options` to `navigator.credentials.create` in the browser.',
      tag,
    },
    problems: CHANGES,
  },
  register: {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/registration/verify`,
    body: registerKeyBody,
    maxBytes: MAX_CREDENTIAL_BYTES,
    answer: z.codec(registerKeyAnswer, z.object({ outcome: z.literal('registered'), key }), {
      decode: (wire) => ({ outcome: 'registered' as const, key: decodeKey(wire.key) }),
      encode: (answer) => ({ key: encodeKey(answer.key) }),
    }),
    words: {
      id: 'registerKey',
      summary: 'Register a key',
      description:
        'Checks the response of the authenticator, uses up its challenge and stores the key. The account holder is notified. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
      tag,
    },
    problems: ['invalid_key', ...CHANGES],
  },
  authenticationOptions: {
    ...shared,
    scope: 'verify',
    path: `${KEYS_PATH}/authentication/options`,
    body: keyAuthenticationOptionsBody,
    answer: options,
    words: {
      id: 'prepareKeyAuthentication',
      summary: 'Get the options for proving possession of a key',
      description:
        'Creates a challenge for the keys of an account, which is valid for five minutes and once. Pass `options` to `navigator.credentials.get` in the browser.',
      tag,
    },
    problems: CHANGES,
  },
  authenticate: {
    ...shared,
    scope: 'verify',
    path: `${KEYS_PATH}/authentication/verify`,
    body: authenticateKeyBody,
    maxBytes: MAX_CREDENTIAL_BYTES,
    answer: z.codec(
      authenticateKeyAnswer,
      z.object({ outcome: z.literal('valid'), key, userVerified: z.boolean() }),
      {
        decode: (wire) => ({
          outcome: 'valid' as const,
          key: decodeKey(wire.key),
          userVerified: wire.user_verified,
        }),
        encode: (answer) => ({
          valid: true as const,
          key: encodeKey(answer.key),
          user_verified: answer.userVerified,
        }),
      },
    ),
    words: {
      id: 'authenticateKey',
      summary: 'Check the response of a key',
      description:
        'Checks the response of the authenticator and uses up its challenge. Wrong responses count like wrong codes, except those without a valid challenge. `user_verified` says whether the key proved one factor or two.',
      tag,
    },
    problems: ['invalid_key', 'factor_disabled', 'method_off', 'locked'],
  },
  list: {
    ...shared,
    scope: 'read',
    path: `${KEYS_PATH}/list`,
    body: listKeysBody,
    answer: z.codec(
      listKeysAnswer,
      z.object({
        keys: z.array(key),
        relyingPartyId: text(253).optional(),
        userHandle: text(128).optional(),
      }),
      {
        decode: ({ keys, relying_party_id, user_handle }) => ({
          keys: keys.map(decodeKey),
          relyingPartyId: relying_party_id,
          userHandle: user_handle,
        }),
        encode: ({ keys, relyingPartyId, userHandle }) => ({
          keys: keys.map(encodeKey),
          relying_party_id: relyingPartyId,
          user_handle: userHandle,
        }),
      },
    ),
    words: {
      id: 'listKeys',
      summary: 'List the keys of an account',
      description:
        'Lists the security keys and passkeys of an account in the order in which they were registered, with what `PublicKeyCredential.signalAllAcceptedCredentials` needs. It changes nothing.',
      tag,
    },
    problems: ['method_off'],
  },
  rename: {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/rename`,
    body: renameKeyBody,
    answer: z.codec(renameKeyAnswer, z.object({ outcome: z.enum(['renamed', 'none']) }), {
      decode: ({ renamed }) => ({ outcome: renamed ? ('renamed' as const) : ('none' as const) }),
      encode: ({ outcome }) => ({ renamed: outcome === 'renamed' }),
    }),
    words: {
      id: 'renameKey',
      summary: 'Rename a key',
      description: "Changes the user's name for a key.",
      tag,
    },
    problems: CHANGES,
  },
  remove: {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/remove`,
    body: removeKeyBody,
    answer: z.codec(removeKeyAnswer, z.object({ outcome: z.enum(['removed', 'none']) }), {
      decode: ({ removed }) => ({ outcome: removed ? ('removed' as const) : ('none' as const) }),
      encode: ({ outcome }) => ({ removed: outcome === 'removed' }),
    }),
    words: {
      id: 'removeKey',
      summary: 'Remove a key',
      description:
        'Removes a key of an account, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
      tag,
    },
    problems: CHANGES,
  },
  relyingParty: {
    part: 'checking',
    scope: 'read',
    path: `${KEYS_PATH}/relying-party`,
    answer: z.codec(
      relyingPartyAnswer,
      z.object({
        id: text(253),
        name: text(120),
        origins: z.array(text(300)),
        relatedOrigins: z.array(text(300)),
      }),
      {
        decode: ({ related_origins, ...party }) => ({ ...party, relatedOrigins: related_origins }),
        encode: ({ relatedOrigins, ...party }) => ({ ...party, related_origins: relatedOrigins }),
      },
    ),
    words: {
      id: 'readRelyingParty',
      summary: 'Get the relying party',
      success:
        'The relying party of your application, from its settings. Serve `related_origins` as `origins` in `/.well-known/webauthn` on the domain `id`.',
      tag,
    },
    problems: ['not_found', 'unavailable'],
    absent: 'This application has no relying party.',
  },
} as const satisfies Readonly<Record<keyof KeyVerbs, Verb>>
