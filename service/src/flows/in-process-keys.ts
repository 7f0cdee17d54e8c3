import { KEY_TYPE, type KeyVerbs } from 'countersign/protocol'
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
import { answer, userFields } from './in-process-answer.js'
import { listAccountKeys, removeAccountKey, renameAccountKey } from './manage-keys.js'
import { prepareKeyAuthentication, prepareKeyRegistration } from './prepare-key.js'
import { registerKey } from './register-key.js'

/** The verbs for keys without HTTP, for one application, which is looked up for each call. */
export function inProcessKeys(context: FlowContext, findApplication: () => Promise<Application>): KeyVerbs {
  return {
    registrationOptions: (request) =>
      answer(
        parseKeyRegistrationOptions({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Transaction: request.transaction,
          UserName: request.userName,
        }),
        async (input) => prepareKeyRegistration(context, await findApplication(), input),
      ),
    register: (request) =>
      answer(
        parseRegisterKey({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Transaction: request.transaction,
          Name: request.name,
          Response: request.response,
        }),
        async (input) => registerKey(context, await findApplication(), input),
      ),
    authenticationOptions: (request) =>
      answer(
        parseKeyAuthenticationOptions({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Purpose: request.purpose,
          Transaction: request.transaction,
        }),
        async (input) => prepareKeyAuthentication(context, await findApplication(), input),
      ),
    authenticate: (request) =>
      answer(
        parseAuthenticateKey({
          ...userFields(request),
          Type: KEY_TYPE[request.method],
          Purpose: request.purpose,
          Transaction: request.transaction,
          Response: request.response,
        }),
        async (input) => authenticateKey(context, await findApplication(), input),
      ),
    list: (request) =>
      answer(parseListKeys(userFields(request)), async (input) => {
        const { outcome: _listed, ...list } = await listAccountKeys(context, await findApplication(), input)
        return list
      }),
    rename: (request) =>
      answer(
        parseRenameKey({ ...userFields(request), Key: request.key, Name: request.name }),
        async (input) => renameAccountKey(context, await findApplication(), input),
      ),
    remove: (request) =>
      answer(parseRemoveKey({ ...userFields(request), Key: request.key }), async (input) =>
        removeAccountKey(context, await findApplication(), input),
      ),
    relyingParty: () =>
      answer({ ok: true, value: undefined }, async () => {
        const { relyingParty } = await findApplication()
        if (!relyingParty) return undefined
        const { topOrigins: _topOrigins, ...published } = relyingParty
        return published
      }),
  }
}
