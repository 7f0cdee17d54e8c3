import * as z from 'zod'
import {
  type AuthenticatorModel,
  KEY_ALGORITHMS,
  type KeyPolicy,
  type RelyingPartySettings,
} from '../application.js'
import { displayName, setting } from './setting-text.js'

const AAGUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MAX_MODELS = 200

// FIDO Metadata Service §3.1.4: what makes a model's attestation worthless.
const COMPROMISED = [
  'USER_VERIFICATION_BYPASS',
  'ATTESTATION_KEY_COMPROMISE',
  'USER_KEY_REMOTE_COMPROMISE',
  'USER_KEY_PHYSICAL_COMPROMISE',
  'REVOKED',
]

const statement = z.object({
  aaguid: z.string().regex(AAGUID),
  description: z.string().max(500),
  attestationRootCertificates: z.array(z.string().max(10_000)).min(1).max(100),
})
const entry = z.object({
  metadataStatement: z.unknown(),
  statusReports: z.array(z.object({ status: z.string() })).default([]),
})
const payload = z.object({ entries: z.array(entry) })

function aaguidList(field: string) {
  const error = `${field} must be a list of AAGUIDs such as ee882879-721c-4913-9775-3dfcce97072a`
  const aaguid = z.string({ error }).toLowerCase().regex(AAGUID, { error })
  return z.array(aaguid, { error }).transform((ids) => [...new Set(ids)])
}

/**
 * The rule for metadata of authenticators: the payload of a metadata BLOB of the FIDO Alliance (`{ entries: […] }`), or a list of
 * metadata statements. Compromised models and those without an AAGUID are left out, and of the rest only what we need is kept.
 */
function metadataRule(field: string) {
  return z.unknown().transform((given, context): readonly AuthenticatorModel[] => {
    const models = readModels(given)
    const message = Array.isArray(models)
      ? `${field} must have at most ${MAX_MODELS} authenticators: keep those that you accept`
      : `${field} must be JSON: metadata statements of the FIDO Alliance, or the payload of its BLOB`
    if (models && models.length <= MAX_MODELS) return models
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

function readModels(given: unknown): AuthenticatorModel[] | undefined {
  const blob = payload.safeParse(given)
  const valid = blob.data?.entries.filter(
    ({ statusReports }) => !statusReports.some(({ status }) => COMPROMISED.includes(status)),
  )
  const statements = valid?.map(({ metadataStatement }) => metadataStatement) ?? given
  if (!Array.isArray(statements)) return undefined
  const parsed = statements.map((given) => statement.safeParse(given))
  // A BLOB also has authenticators of older protocols, which have no AAGUID.
  if (!blob.success && parsed.some(({ success }) => !success)) return undefined
  return parsed.flatMap(({ data }) => data ?? [])
}

const HOST = String.raw`[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*`
const DOMAIN = new RegExp(`^(?=.{1,253}$)${HOST}$`)
// Browsers allow keys on http for localhost only. Apps for Android have origins of their own.
const ORIGIN = new RegExp(
  `^(https://${HOST}(:[1-9]\\d{0,4})?|http://(${HOST}\\.)?localhost(:[1-9]\\d{0,4})?|android:apk-key-hash(-sha256)?:[\\w-]{43})$`,
)
const IP_ADDRESS = /^\d{1,3}(\.\d{1,3}){3}$/
const MAX_ORIGINS = 100

const domain = (name: string) => {
  const error = `${name} must be a domain such as example.com, in lower case, without https://, port or path`
  return z
    .string({ error })
    .regex(DOMAIN, { error })
    .refine((text) => !IP_ADDRESS.test(text), { error: `${name} must be a domain, not an IP address` })
}

const originList = (name: string) => {
  const error = `${name} must be a list of origins such as https://app.example.com, without a path`
  return z
    .array(z.string({ error }).regex(ORIGIN, { error }), { error })
    .max(MAX_ORIGINS, { error: `${name} must be at most ${MAX_ORIGINS} origins` })
    .transform((origins) => [...new Set(origins)])
}

const algorithmList = (name: string) => {
  const error = `${name} must be a list of ${KEY_ALGORITHMS.join(', ')}`
  return z
    .array(z.enum(KEY_ALGORITHMS, { error }), { error })
    .min(1, { error })
    .transform((names) => KEY_ALGORITHMS.filter((known) => names.includes(known)))
}

const createWordRule = <const Words extends readonly [string, string]>(name: string, words: Words) =>
  z.enum(words, { error: `${name} must be ${words.join(' or ')}` })

const userVerification = (name: string) => createWordRule(name, ['discouraged', 'required'])
const attestation = (name: string) => createWordRule(name, ['none', 'direct'])
const counter = (name: string) => createWordRule(name, ['refuse', 'flag'])
const deviceBoundOnly = (name: string) => z.boolean({ error: `${name} must be true or false` })

/** The option `relyingParty` of `createService`. */
export const relyingPartyOption = z.strictObject(
  {
    /** The domain that keys belong to, such as `example.com`: your pages' domain, or one above it. It cannot change later. */
    id: domain('relyingParty.id'),
    /** The name that authenticators show, 1 to 40 characters. Defaults to the application's name. */
    name: displayName('relyingParty.name').optional(),
    /** The origins of your pages, `https://app.example.com`. Defaults to `https://` and the id. */
    origins: originList('relyingParty.origins').optional(),
    /** Origins of other sites of yours that share the keys. Defaults to none. */
    relatedOrigins: originList('relyingParty.relatedOrigins').optional(),
    /** Origins of other sites whose pages may show yours in a frame that uses keys. Defaults to none. */
    topOrigins: originList('relyingParty.topOrigins').optional(),
  },
  { error: 'relyingParty must be an object with an id such as example.com' },
)

/** The option `relyingParty`, once it is valid. */
export type RelyingPartyOption = z.output<typeof relyingPartyOption>

/** The option `keyPolicy` of `createService`. */
export const keyPolicyOption = z.strictObject(
  {
    /** Whether security keys must verify the user: `discouraged` or `required`. Passkeys always must. Defaults to `discouraged`. */
    userVerification: userVerification('keyPolicy.userVerification').default('discouraged'),
    /** Refuses keys that can be synced to other devices. Defaults to `false`. */
    deviceBoundOnly: deviceBoundOnly('keyPolicy.deviceBoundOnly').default(false),
    /** `direct` accepts only authenticators whose attestation leads to `metadata`. Defaults to `none`. */
    attestation: attestation('keyPolicy.attestation').default('none'),
    /** The accepted models by AAGUID; needs `attestation: 'direct'`. Defaults to all in `metadata`. */
    authenticators: aaguidList('keyPolicy.authenticators').default([]),
    /** Metadata statements of the FIDO Alliance, or the payload of its BLOB, as parsed JSON. Defaults to none. */
    metadata: metadataRule('keyPolicy.metadata').prefault([]),
    /** The accepted algorithms. Defaults to `EdDSA`, `ES256` and `RS256`. */
    algorithms: algorithmList('keyPolicy.algorithms').default(['EdDSA', 'ES256', 'RS256']),
    /** When a signature counter goes back, `refuse` refuses the key, `flag` notifies the user only. Defaults to `refuse`. */
    counter: counter('keyPolicy.counter').default('refuse'),
  },
  { error: 'keyPolicy must be an object' },
)

/** The settings of one application for security keys and passkeys, all of them optional. */
export const keyRules = {
  relyingPartyId: setting(domain('relyingPartyId'), {
    hint: 'The domain that security keys and passkeys belong to, such as example.com. Without it, none are offered. It cannot change later.',
    usual: 'none',
  }),
  relyingPartyName: setting(displayName('relyingPartyName'), {
    hint: 'The name that authenticators show.',
    usual: 'the name of the application',
  }),
  relyingPartyOrigins: setting(originList('relyingPartyOrigins'), {
    hint: 'Origins of its pages: https://app.example.com.',
    usual: 'https:// and the id',
  }),
  relatedOrigins: setting(originList('relatedOrigins'), {
    hint: 'Origins of other sites that share the keys.',
    usual: 'none',
  }),
  topOrigins: setting(originList('topOrigins'), {
    hint: 'Origins of other sites whose pages may show its pages in a frame that uses keys.',
    usual: 'none',
  }),
  keyUserVerification: setting(userVerification('keyUserVerification'), {
    hint: 'Whether security keys must verify the user, too. Passkeys always must.',
    usual: 'discouraged',
  }),
  keyDeviceBoundOnly: setting(deviceBoundOnly('keyDeviceBoundOnly'), {
    hint: 'Refuses keys that can be synced to other devices.',
    usual: 'false',
  }),
  keyAttestation: setting(attestation('keyAttestation'), {
    hint: 'direct accepts only authenticators whose manufacturer attests their model. It needs metadata.',
    usual: 'none',
  }),
  keyAuthenticators: setting(aaguidList('keyAuthenticators'), {
    hint: 'AAGUIDs of the accepted models; needs direct.',
    usual: 'all in the metadata',
  }),
  keyMetadata: setting(metadataRule('keyMetadata'), {
    hint: 'Metadata statements of the FIDO Alliance, or the payload of its BLOB, as JSON.',
    usual: 'none',
  }),
  keyAlgorithms: setting(algorithmList('keyAlgorithms'), {
    hint: 'The accepted algorithms.',
    usual: 'EdDSA, ES256 and RS256',
  }),
  keyCounter: setting(counter('keyCounter'), {
    hint: 'When a signature counter goes back: refuse the key, or flag it with a notice to the user. Keys that can be synced are flagged.',
    usual: 'refuse',
  }),
}

type KeySettings = { [Name in keyof typeof keyRules]?: z.output<(typeof keyRules)[Name]> }

/** The policy without settings. */
export const DEFAULT_KEY_POLICY: KeyPolicy = keyPolicyOption.parse({})

/** The relying party that `relyingParty` describes. */
export function createRelyingParty(
  given: RelyingPartyOption | undefined,
  applicationName: string,
): RelyingPartySettings | undefined {
  if (!given) return undefined
  const {
    id,
    name = applicationName,
    origins = [`https://${id}`],
    relatedOrigins = [],
    topOrigins = [],
  } = given
  return { id, name, origins, relatedOrigins, topOrigins }
}

/** The relying party of an application: what is set, and the defaults for the rest. */
export function mergeRelyingParty(
  set: KeySettings,
  defaults: RelyingPartySettings | undefined,
  applicationName: string,
): RelyingPartySettings | undefined {
  const id = set.relyingPartyId ?? defaults?.id
  if (id === undefined) return undefined
  const origins = set.relyingPartyId === undefined ? defaults?.origins : undefined
  return {
    id,
    name: set.relyingPartyName ?? defaults?.name ?? applicationName,
    origins: set.relyingPartyOrigins ?? origins ?? [`https://${id}`],
    relatedOrigins: set.relatedOrigins ?? defaults?.relatedOrigins ?? [],
    topOrigins: set.topOrigins ?? defaults?.topOrigins ?? [],
  }
}

/** The policy of an application: what is set, and the defaults for the rest. */
export function keyPolicyFrom(set: KeySettings, defaults: KeyPolicy): KeyPolicy {
  return {
    userVerification: set.keyUserVerification ?? defaults.userVerification,
    deviceBoundOnly: set.keyDeviceBoundOnly ?? defaults.deviceBoundOnly,
    attestation: set.keyAttestation ?? defaults.attestation,
    authenticators: set.keyAuthenticators ?? defaults.authenticators,
    metadata: set.keyMetadata ?? defaults.metadata,
    algorithms: set.keyAlgorithms ?? defaults.algorithms,
    counter: set.keyCounter ?? defaults.counter,
  }
}

/** The settings that describe this relying party and this policy. */
export function keySettingsFrom(
  relyingParty: RelyingPartySettings | undefined,
  policy: KeyPolicy,
): { readonly [Name in keyof typeof keyRules]: unknown } {
  return {
    relyingPartyId: relyingParty?.id,
    relyingPartyName: relyingParty?.name,
    relyingPartyOrigins: relyingParty?.origins,
    relatedOrigins: relyingParty?.relatedOrigins,
    topOrigins: relyingParty?.topOrigins,
    keyUserVerification: policy.userVerification,
    keyDeviceBoundOnly: policy.deviceBoundOnly,
    keyAttestation: policy.attestation,
    keyAuthenticators: policy.authenticators,
    keyMetadata: policy.metadata,
    keyAlgorithms: policy.algorithms,
    keyCounter: policy.counter,
  }
}

/** The contradictions in a policy. */
export function findPolicyFaults({ attestation, authenticators, metadata }: KeyPolicy): string[] {
  const known = metadata.map(({ aaguid }) => aaguid)
  const unknown = authenticators.filter((aaguid) => !known.includes(aaguid))
  if (attestation === 'none') {
    return authenticators.length > 0
      ? [
          'A list of accepted authenticators needs the attestation `direct`: without it, their models are not verified.',
        ]
      : []
  }
  if (known.length === 0)
    return ['The attestation `direct` needs metadata: without it, no authenticator is accepted.']
  return unknown.length > 0 ? [`The metadata lacks the accepted authenticator ${unknown.join(', ')}.`] : []
}

/** Origins that browsers do not accept for a relying party, because their host is neither its id nor below it. */
export function unfitOrigins({ id, origins }: Pick<RelyingPartySettings, 'id' | 'origins'>): string[] {
  return origins.filter((origin) => {
    if (!origin.startsWith('http')) return false
    const { hostname } = new URL(origin)
    return hostname !== id && !hostname.endsWith(`.${id}`)
  })
}
