import type * as z from 'zod'
import type { Caller } from '../protocol/caller.js'
import { type Contact, formatUser } from '../protocol/contact.js'
import type { Key, KeyFault, KeyOptionsAnswer, KeyVerbs } from '../protocol/keys.js'
import {
  authenticateKeyAnswer,
  type keyAnswer,
  keyOptionsAnswer,
  listKeysAnswer,
  registerKeyAnswer,
  relyingPartyAnswer,
  removeKeyAnswer,
  renameKeyAnswer,
} from '../protocol/keys-wire.js'
import { KEY_TYPE, type KeyMethod, type KeyType } from '../protocol/methods.js'
import type { Refused } from '../protocol/service-refusal.js'
import { invalidResponse, keyFaultIn, problemCode, refusalIn, validFields } from './response-validation.js'
import type { Answer } from './transport.js'

/** How the client of keys calls the service. */
export interface KeyCalls {
  /** The path above the calls for keys. */
  readonly path: string
  post(path: string, parameters: Record<string, string | undefined>): Promise<Answer>
  get(path: string): Promise<Answer>
  /** The parameters that name the account and the client, if the service supports them. */
  extras(caller: Caller): Record<string, string | undefined>
}

const METHOD: Readonly<Record<KeyType, KeyMethod>> = { SECURITY_KEY: 'security-key', PASSKEY: 'passkey' }

/** The method of a `Type` value for keys. */
export function keyMethodOf(type: KeyType): KeyMethod {
  return METHOD[type]
}

/** The client of a service's calls for security keys and passkeys. */
export function keyClient({ path, post, get, extras }: KeyCalls): KeyVerbs {
  const userOf = (request: Caller & { readonly contact: Contact }) => ({
    User: formatUser(request.contact),
    ...extras(request),
  })

  return {
    async registrationOptions(request) {
      const { method, transaction, userName } = request
      const answer = await post(`${path}/registration/options`, {
        ...userOf(request),
        Type: KEY_TYPE[method],
        Transaction: transaction,
        UserName: userName,
      })
      return optionsIn(answer)
    },

    async register(request) {
      const { method, transaction, name, response } = request
      const answer = await post(`${path}/registration/verify`, {
        ...userOf(request),
        Type: KEY_TYPE[method],
        Transaction: transaction,
        Name: name,
        Response: JSON.stringify(response),
      })
      const fault = keyFaultIn(answer)
      if (fault) return invalid(fault)
      if (answer.status !== 200) return refusalOf(answer)
      const { key } = read(registerKeyAnswer, answer)
      return { outcome: 'registered', key: keyIn(key) }
    },

    async authenticationOptions(request) {
      const { method, purpose, transaction } = request
      const answer = await post(`${path}/authentication/options`, {
        ...userOf(request),
        Type: KEY_TYPE[method],
        Purpose: purpose,
        Transaction: transaction,
      })
      return optionsIn(answer)
    },

    async authenticate(request) {
      const { method, purpose, transaction, response } = request
      const answer = await post(`${path}/authentication/verify`, {
        ...userOf(request),
        Type: KEY_TYPE[method],
        Purpose: purpose,
        Transaction: transaction,
        Response: JSON.stringify(response),
      })
      const fault = keyFaultIn(answer)
      if (fault) return invalid(fault)
      // Verifying sends no message, so a 429 without a reason means too many wrong responses.
      if (answer.status !== 200) return refusalOf(answer, 'locked')
      const { key, user_verified } = read(authenticateKeyAnswer, answer)
      return { outcome: 'valid', key: keyIn(key), userVerified: user_verified }
    },

    async list(request) {
      const answer = await post(`${path}/list`, userOf(request))
      if (answer.status !== 200) return refusalOf(answer)
      const { keys, relying_party_id, user_handle } = read(listKeysAnswer, answer)
      return {
        keys: keys.map(keyIn),
        ...(relying_party_id !== undefined && { relyingPartyId: relying_party_id }),
        ...(user_handle !== undefined && { userHandle: user_handle }),
      }
    },

    async rename(request) {
      const { key, name } = request
      const answer = await post(`${path}/rename`, { ...userOf(request), Key: key, Name: name })
      if (answer.status !== 200) return refusalOf(answer)
      return { outcome: read(renameKeyAnswer, answer).renamed ? 'renamed' : 'none' }
    },

    async remove(request) {
      const answer = await post(`${path}/remove`, { ...userOf(request), Key: request.key })
      if (answer.status !== 200) return refusalOf(answer)
      return { outcome: read(removeKeyAnswer, answer).removed ? 'removed' : 'none' }
    },

    async relyingParty() {
      const answer = await get(`${path}/relying-party`)
      if (answer.status === 404) return undefined
      if (answer.status !== 200) {
        refusalIn(answer)
        throw invalidResponse(`unexpected status ${answer.status}`)
      }
      const { related_origins, ...party } = read(relyingPartyAnswer, answer)
      return { ...party, relatedOrigins: related_origins }
    },
  }
}

function optionsIn(answer: Answer): KeyOptionsAnswer {
  if (answer.status !== 200) return refusalOf(answer)
  const { options, expires_in } = read(keyOptionsAnswer, answer)
  return { outcome: 'prepared', options, expiresInSeconds: expires_in }
}

/** A service of an earlier release has none of the paths, so it offers no keys. */
function refusalOf(answer: Answer, tooMany?: 'limited' | 'locked'): Refused {
  if (answer.status === 404 && problemCode(answer) === 'not_found') {
    return { outcome: 'refused', refusal: { reason: 'method_off' } }
  }
  return refusalIn(answer, tooMany)
}

function invalid(fault: KeyFault): { readonly outcome: 'invalid'; readonly fault: KeyFault } {
  return { outcome: 'invalid', fault }
}

function keyIn(key: z.output<typeof keyAnswer>): Key {
  return {
    id: key.id,
    method: METHOD[key.type],
    name: key.name,
    backupEligible: key.backup_eligible,
    backedUp: key.backed_up,
    createdAt: Date.parse(key.created_at),
    ...(key.last_used_at !== undefined && { lastUsedAt: Date.parse(key.last_used_at) }),
  }
}

function read<Body>(schema: z.ZodType<Body>, answer: Answer): Body {
  const parsed = schema.safeParse(validFields(answer))
  if (parsed.success) return parsed.data
  throw invalidResponse('a body about keys that does not follow the API')
}
