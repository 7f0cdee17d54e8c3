import { keyWire } from 'countersign/protocol'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { header } from './headers.js'
import { get, post } from './operation.js'

const tag = 'Security keys and passkeys'

/** The operations about security keys and passkeys, by path. */
export const KEY_OPERATIONS: ZodOpenApiPathsObject = {
  '/v1/mfa/keys/registration/options': post({
    id: 'prepareKeyRegistration',
    summary: 'Get the options for registering a key',
    description:
      'Creates a challenge for registering a security key or a passkey, which is valid for five minutes and once. Pass `options` to `navigator.credentials.create` in the browser.',
    tag,
    body: keyWire.keyRegistrationOptionsBody,
    answer: keyWire.keyOptionsAnswer,
    problems: ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'],
  }),
  '/v1/mfa/keys/registration/verify': post({
    id: 'registerKey',
    summary: 'Register a key',
    description:
      'Checks the response of the authenticator, uses up its challenge and stores the key. The account holder is notified. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
    body: keyWire.registerKeyBody,
    answer: keyWire.registerKeyAnswer,
    problems: ['invalid_key', 'method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'],
  }),
  '/v1/mfa/keys/authentication/options': post({
    id: 'prepareKeyAuthentication',
    summary: 'Get the options for proving possession of a key',
    description:
      'Creates a challenge for the keys of an account, which is valid for five minutes and once. Pass `options` to `navigator.credentials.get` in the browser.',
    tag,
    body: keyWire.keyAuthenticationOptionsBody,
    answer: keyWire.keyOptionsAnswer,
    problems: ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'],
  }),
  '/v1/mfa/keys/authentication/verify': post({
    id: 'authenticateKey',
    summary: 'Check the response of a key',
    description:
      'Checks the response of the authenticator and uses up its challenge. Wrong responses count like wrong codes, except those without a valid challenge. `user_verified` says whether the key proved one factor or two.',
    tag,
    body: keyWire.authenticateKeyBody,
    answer: keyWire.authenticateKeyAnswer,
    problems: ['invalid_key', 'factor_disabled', 'method_off', 'locked'],
  }),
  '/v1/mfa/keys/list': post({
    id: 'listKeys',
    summary: 'List the keys of an account',
    description:
      'Lists the security keys and passkeys of an account in the order in which they were registered, with what `PublicKeyCredential.signalAllAcceptedCredentials` needs. It changes nothing.',
    tag,
    body: keyWire.listKeysBody,
    answer: keyWire.listKeysAnswer,
    problems: ['method_off'],
  }),
  '/v1/mfa/keys/rename': post({
    id: 'renameKey',
    summary: 'Rename a key',
    description: "Changes the user's name for a key.",
    tag,
    body: keyWire.renameKeyBody,
    answer: keyWire.renameKeyAnswer,
    problems: ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'],
  }),
  '/v1/mfa/keys/remove': post({
    id: 'removeKey',
    summary: 'Remove a key',
    description:
      'Removes a key of an account, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
    body: keyWire.removeKeyBody,
    answer: keyWire.removeKeyAnswer,
    problems: ['method_off', 'contact_refused', 'factor_disabled', 'limited', 'locked'],
  }),
  '/v1/mfa/keys/relying-party': get({
    id: 'readRelyingParty',
    summary: 'Get the relying party',
    tag,
    key: true,
    responses: {
      200: {
        description:
          'The relying party of your application, from its settings. Serve `related_origins` as `origins` in `/.well-known/webauthn` on the domain `id`.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: keyWire.relyingPartyAnswer } },
      },
    },
    problems: ['not_found', 'unavailable'],
  }),
}
