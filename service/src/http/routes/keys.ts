import { KEY_TYPE, type Key, type keyTypes, type keyWire } from 'countersign/protocol'
import type { RequestHandler } from 'express'
import type * as z from 'zod'
import { authenticateKey } from '../../flows/authenticate-key.js'
import type { FlowContext } from '../../flows/context.js'
import { listAccountKeys, removeAccountKey, renameAccountKey } from '../../flows/manage-keys.js'
import { prepareKeyAuthentication, prepareKeyRegistration } from '../../flows/prepare-key.js'
import { registerKey } from '../../flows/register-key.js'
import {
  parseAuthenticateKey,
  parseKeyAuthenticationOptions,
  parseKeyRegistrationOptions,
  parseListKeys,
  parseRegisterKey,
  parseRemoveKey,
  parseRenameKey,
} from '../../requests/key-inputs.js'
import { callingApplication } from '../authenticate.js'
import { flowRoute, type Granted } from '../flow-route.js'
import { problem } from '../problem.js'

/** The routes under `/v1/mfa/keys` that take a body. */
export function keyRoutes(context: FlowContext) {
  return {
    registrationOptions: flowRoute(context, {
      parse: parseKeyRegistrationOptions,
      flow: prepareKeyRegistration,
      toBody: optionsBody,
    }),
    register: flowRoute(context, { parse: parseRegisterKey, flow: registerKey, toBody: registerBody }),
    authenticationOptions: flowRoute(context, {
      parse: parseKeyAuthenticationOptions,
      flow: prepareKeyAuthentication,
      toBody: optionsBody,
    }),
    authenticate: flowRoute(context, {
      parse: parseAuthenticateKey,
      flow: authenticateKey,
      toBody: authenticateBody,
    }),
    list: flowRoute(context, { parse: parseListKeys, flow: listAccountKeys, toBody: listBody }),
    rename: flowRoute(context, {
      parse: parseRenameKey,
      flow: renameAccountKey,
      toBody: ({ outcome }) => ({ renamed: outcome === 'renamed' }),
    }),
    remove: flowRoute(context, {
      parse: parseRemoveKey,
      flow: removeAccountKey,
      toBody: ({ outcome }) => ({ removed: outcome === 'removed' }),
    }),
  } as const satisfies Record<string, RequestHandler>
}

/** `GET /v1/mfa/keys/relying-party`: the relying party of the calling application, for the documents under `/.well-known`. */
export const relyingPartyRoute: RequestHandler = function describeRelyingParty(request, response) {
  const { relyingParty } = callingApplication(request)
  if (!relyingParty) {
    return problem(response, 'not_found', { detail: 'This application has no relying party.' })
  }
  const { id, name, origins, relatedOrigins } = relyingParty
  const answer: z.output<typeof keyWire.relyingPartyAnswer> = {
    id,
    name,
    origins: [...origins],
    related_origins: [...relatedOrigins],
  }
  response.json(answer)
}

function optionsBody({
  options,
  expiresInSeconds,
}: Granted<keyTypes.KeyOptionsAnswer>): z.output<typeof keyWire.keyOptionsAnswer> {
  return { options, expires_in: expiresInSeconds }
}

function registerBody(answer: Granted<keyTypes.RegisterKeyAnswer>) {
  if (answer.outcome === 'invalid') return invalidKey(answer.fault)
  return { key: keyBody(answer.key) } satisfies z.output<typeof keyWire.registerKeyAnswer>
}

function authenticateBody(answer: Granted<keyTypes.AuthenticateKeyAnswer>) {
  if (answer.outcome === 'invalid') return invalidKey(answer.fault)
  const { key, userVerified } = answer
  return { valid: true, key: keyBody(key), user_verified: userVerified } satisfies z.output<
    typeof keyWire.authenticateKeyAnswer
  >
}

function listBody({
  keys,
  relyingPartyId,
  userHandle,
}: keyTypes.KeyList): z.output<typeof keyWire.listKeysAnswer> {
  return {
    keys: keys.map(keyBody),
    ...(relyingPartyId !== undefined && { relying_party_id: relyingPartyId }),
    ...(userHandle !== undefined && { user_handle: userHandle }),
  }
}

function keyBody({ id, method, name, backupEligible, backedUp, createdAt, lastUsedAt }: Key) {
  return {
    id,
    type: KEY_TYPE[method],
    name,
    backup_eligible: backupEligible,
    backed_up: backedUp,
    created_at: new Date(createdAt).toISOString(),
    ...(lastUsedAt !== undefined && { last_used_at: new Date(lastUsedAt).toISOString() }),
  }
}

function invalidKey(fault: keyTypes.KeyFault) {
  return { problem: 'invalid_key', fault } as const
}
