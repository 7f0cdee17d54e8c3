import { KEY_TYPE, type keyTypes } from 'countersign/protocol'
import type { Application } from '../application.js'
import {
  parseAuthenticateKey,
  parseKeyAuthenticationOptions,
  parseKeyRegistrationOptions,
  parseListKeys,
  parseRegisterKey,
  parseRemoveKey,
  parseRenameKey,
} from '../requests/key-inputs.js'
import { authenticateKey } from './authenticate-key.js'
import type { FlowContext } from './context.js'
import { accountAnswers, answer, userFields } from './in-process-answer.js'
import { listAccountKeys, removeAccountKey, renameAccountKey } from './manage-keys.js'
import { prepareKeyAuthentication, prepareKeyRegistration } from './prepare-key.js'
import { registerKey } from './register-key.js'

/** The verbs for keys without HTTP, for one application, which is looked up for each call. */
export function inProcessKeys(
  context: FlowContext,
  findApplication: () => Promise<Application>,
): keyTypes.KeyVerbs {
  const ofAccount = accountAnswers(context, findApplication)
  return {
    registrationOptions: (request) =>
      ofAccount(
        parseKeyRegistrationOptions({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Transaction: request.transaction,
          UserName: request.userName,
        }),
        prepareKeyRegistration,
      ),
    register: (request) =>
      ofAccount(
        parseRegisterKey({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Transaction: request.transaction,
          Name: request.name,
          Response: request.response,
        }),
        registerKey,
      ),
    authenticationOptions: (request) =>
      ofAccount(
        parseKeyAuthenticationOptions({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Purpose: request.purpose,
          Transaction: request.transaction,
        }),
        prepareKeyAuthentication,
      ),
    authenticate: (request) =>
      ofAccount(
        parseAuthenticateKey({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Purpose: request.purpose,
          Transaction: request.transaction,
          Response: request.response,
        }),
        authenticateKey,
      ),
    list: (request) =>
      ofAccount(parseListKeys(userFields(request)), async (context, application, input) => {
        const { outcome: _listed, ...list } = await listAccountKeys(context, application, input)
        return list
      }),
    rename: (request) =>
      ofAccount(
        parseRenameKey({ ...userFields(request), Key: request.key, Name: request.name }),
        renameAccountKey,
      ),
    remove: (request) =>
      ofAccount(parseRemoveKey({ ...userFields(request), Key: request.key }), removeAccountKey),
    relyingParty: () =>
      answer({ ok: true, value: undefined }, async () => {
        const { relyingParty } = await findApplication()
        if (!relyingParty) return undefined
        const { topOrigins: _topOrigins, ...published } = relyingParty
        return published
      }),
  }
}
