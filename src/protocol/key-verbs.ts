import * as z from 'zod'
import { KEY_MEDIATIONS, KEY_PURPOSES } from './keys.js'
import { authenticationField, base64url, credentialId, keyName, registrationField } from './keys-wire.js'
import { KEY_TYPES } from './methods.js'
import { answer, createTrueWord, createWordPair, keyMethod, time } from './names.js'
import { createBody, type Verb } from './verb.js'
import { approval, count, createTextRule, createWordRule, hasApproval } from './wire-parts.js'

/*
 * The table of the verbs for security keys and passkeys. The published API names security keys among its methods and shows no format, so
 * all of this is an addition of the Countersign service.
 */

/** The path above their routes. */
export const KEYS_PATH = '/v1/mfa/keys'

class RegistrationOptionsBody {
  /** The method that the new key is for. */
  readonly Type = createWordRule(KEY_TYPES)
  /** The host's id for this registration. The response is accepted in the same transaction only. */
  readonly Transaction = createTextRule(128).optional()
  /** The name of the account that the authenticator shows, such as the email address. Defaults to the contact. */
  readonly UserName = createTextRule(320).optional()
  /** `conditional`: created without a prompt, right after the password was filled in, so it proves nothing (WebAuthn §7.1). */
  readonly Mediation = createWordRule(KEY_MEDIATIONS).optional()
}

class RegisterBody {
  /** The method of the options. */
  readonly Type = createWordRule(KEY_TYPES)
  /** The transaction of the options. */
  readonly Transaction = createTextRule(128).optional()
  /** The user's name for the key, at most 60 characters. Defaults to one that is derived from the authenticator. */
  readonly Name = keyName.optional()
  /** The new credential, as the browser returned it. */
  readonly Response = registrationField
}

class AuthenticationOptionsBody {
  /** The method whose keys are asked for. */
  readonly Type = createWordRule(KEY_TYPES)
  /** The purpose of the assertion. */
  readonly Purpose = createWordRule(KEY_PURPOSES).optional()
  /** The host's id for what is proven, such as a pending login. */
  readonly Transaction = createTextRule(128).optional()
  /** With the purpose `approval`: what the key signs, as the challenge is derived from its digest. */
  readonly Approval = approval
}

/** The parameters with which the options were requested, and what the browser returned. The key must have signed the same `Approval`. */
class AuthenticateBody extends AuthenticationOptionsBody {
  /** The assertion, as the browser returned it. */
  readonly Response = authenticationField
}

class RemoveBody {
  /** The id of the key. */
  readonly Key = credentialId
}

class RenameBody extends RemoveBody {
  /** The new name, 1 to 60 characters. */
  readonly Name = keyName
}

class KeyAnswer {
  /** The credential id, in base64url. */
  readonly id = credentialId
  /** The ceremony with which it was registered. */
  readonly type = keyMethod
  /** The user's name for it, or one that was derived from the authenticator. */
  readonly name = z.string().min(1).max(60)
  /** Whether it can be synced to other devices (BE). Otherwise it exists on this device only. */
  readonly backup_eligible = z.boolean()
  /** Whether it is synced at present (BS). */
  readonly backed_up = z.boolean()
  /** When it was registered, in milliseconds since 1970. */
  readonly created_at = time
  /** When it was last accepted, in milliseconds since 1970. Absent if it never was. */
  readonly last_used_at = time.optional()
}

const key = answer(new KeyAnswer(), { type: 'method' })

class OptionsAnswer {
  /** For `PublicKeyCredential.parseCreationOptionsFromJSON` or its sibling. */
  readonly options = z.looseObject({ challenge: base64url(128) })
  /** How long the challenge is valid. */
  readonly expires_in = count
}

class RegisterAnswer {
  /** The new key. */
  readonly key = key
}

class AuthenticateAnswer {
  /** The key signed the challenge, which is used up. */
  readonly valid = createTrueWord('valid')
  /** The key that was used. */
  readonly key = key
  /** Whether the authenticator verified the user (UV). This decides what was proven, whichever ceremony asked. */
  readonly user_verified = z.boolean()
}

class KeyListAnswer {
  /** In the order in which they were registered. */
  readonly keys = z.array(key)
  /** The relying party's id, a domain. Absent if the application has none now: its keys exist and cannot be used. */
  readonly relying_party_id = createTextRule(253).optional()
  /** The random id of the account that its keys store, in base64url. Absent before the first registration. */
  readonly user_handle = base64url(128).optional()
}

class RenameAnswer {
  /** `none`: the account has no such key. */
  readonly renamed = createWordPair('renamed', 'none')
}

class RemoveAnswer {
  /** `none`: the account has no such key. */
  readonly removed = createWordPair('removed', 'none')
}

class RelyingPartyAnswer {
  /** A domain, such as `example.com`. */
  readonly id = createTextRule(253)
  /** The name that the authenticator shows beside the account. */
  readonly name = createTextRule(120)
  /** The origins whose pages may use the keys, such as `https://app.example.com`. */
  readonly origins = z.array(z.string().max(300))
  /** Origins of other sites that share the keys, for `/.well-known/webauthn`. */
  readonly related_origins = z.array(z.string().max(300))
}

const prepared = answer(new OptionsAnswer(), {}, { outcome: z.literal('prepared') })

const CHANGES = ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'] as const

// An attestation with its certificates (WebAuthn §6.5) takes up to 24 KB in base64url.
const MAX_CREDENTIAL_BYTES = 40_960

/** The answer of a service without keys to all that is about them. */
const shared = { part: 'checking', without: 'method_off' } as const

/** The verbs for security keys and passkeys. */
export class VerbsOfKeys {
  /** Creates the challenge of a registration. */
  readonly registrationOptions = {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/registration/options`,
    body: createBody(new RegistrationOptionsBody()).refine(
      ({ Type, Mediation }) => Mediation === undefined || Type === 'PASSKEY',
      { path: ['Mediation'], error: 'can be given for PASSKEY only' },
    ),
    always: ['Transaction'],
    answer: prepared,
    problems: CHANGES,
  } as const satisfies Verb
  /** Stores a key after checking the response of the authenticator (R70, R72). The account may have several. */
  readonly register = {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/registration/verify`,
    body: createBody(new RegisterBody()),
    always: ['Transaction'],
    maxBytes: MAX_CREDENTIAL_BYTES,
    answer: answer(new RegisterAnswer(), {}, { outcome: z.literal('registered') }),
    problems: ['invalid_key', ...CHANGES],
  } as const satisfies Verb
  /** Creates the challenge of an assertion (R69). */
  readonly authenticationOptions = {
    ...shared,
    scope: 'verify',
    path: `${KEYS_PATH}/authentication/options`,
    body: createBody(new AuthenticationOptionsBody()).refine(hasApproval.check, hasApproval.says),
    always: ['Purpose', 'Transaction'],
    answer: prepared,
    problems: CHANGES,
  } as const satisfies Verb
  /** Checks an assertion and uses its challenge up (R69, R70, R71). */
  readonly authenticate = {
    ...shared,
    scope: 'verify',
    path: `${KEYS_PATH}/authentication/verify`,
    body: createBody(new AuthenticateBody()).refine(hasApproval.check, hasApproval.says),
    always: ['Purpose', 'Transaction'],
    maxBytes: MAX_CREDENTIAL_BYTES,
    answer: answer(new AuthenticateAnswer(), { valid: 'outcome' }),
    problems: ['invalid_key', 'factor_disabled', 'method_off', 'locked'],
  } as const satisfies Verb
  /** Returns the keys of an account, and what the browser needs to tell a password manager about them (Signal API). */
  readonly list = {
    ...shared,
    scope: 'read',
    path: `${KEYS_PATH}/list`,
    body: createBody({}),
    answer: answer(new KeyListAnswer()),
    problems: ['method_off'],
  } as const satisfies Verb
  /** Renames a key. */
  readonly rename = {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/rename`,
    body: createBody(new RenameBody()),
    answer: answer(new RenameAnswer(), { renamed: 'outcome' }),
    problems: CHANGES,
  } as const satisfies Verb
  /** Removes a key. */
  readonly remove = {
    ...shared,
    scope: 'enroll',
    path: `${KEYS_PATH}/remove`,
    body: createBody(new RemoveBody()),
    answer: answer(new RemoveAnswer(), { removed: 'outcome' }),
    problems: CHANGES,
  } as const satisfies Verb
  /** Returns the relying party of the application, from its settings; `undefined` if it has none. */
  readonly relyingParty = {
    part: 'checking',
    scope: 'read',
    path: `${KEYS_PATH}/relying-party`,
    answer: answer(new RelyingPartyAnswer()),
    problems: ['not_found', 'unavailable'],
    absent: 'This application has no relying party.',
  } as const satisfies Verb
}

/** The verbs for security keys and passkeys. */
export const KEY_VERBS: VerbsOfKeys = { ...new VerbsOfKeys() }
