import { KEY_VERBS, keyWire } from 'countersign/protocol'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { header } from './headers.js'
import { get, verbPost } from './operation.js'

const tag = 'Security keys and passkeys'

/** The operations about security keys and passkeys, by path. */
export const KEY_OPERATIONS: ZodOpenApiPathsObject = {
  ...verbPost(KEY_VERBS.registrationOptions, {
    id: 'prepareKeyRegistration',
    summary: 'Get the options for registering a key',
    description:
      'Creates a challenge for registering a security key or a passkey, which is valid for five minutes and once. Pass `options` to `navigator.credentials.create` in the browser.',
    tag,
  }),
  ...verbPost(KEY_VERBS.register, {
    id: 'registerKey',
    summary: 'Register a key',
    description:
      'Checks the response of the authenticator, uses up its challenge and stores the key. The account holder is notified. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
  }),
  ...verbPost(KEY_VERBS.authenticationOptions, {
    id: 'prepareKeyAuthentication',
    summary: 'Get the options for proving possession of a key',
    description:
      'Creates a challenge for the keys of an account, which is valid for five minutes and once. Pass `options` to `navigator.credentials.get` in the browser.',
    tag,
  }),
  ...verbPost(KEY_VERBS.authenticate, {
    id: 'authenticateKey',
    summary: 'Check the response of a key',
    description:
      'Checks the response of the authenticator and uses up its challenge. Wrong responses count like wrong codes, except those without a valid challenge. `user_verified` says whether the key proved one factor or two.',
    tag,
  }),
  ...verbPost(KEY_VERBS.list, {
    id: 'listKeys',
    summary: 'List the keys of an account',
    description:
      'Lists the security keys and passkeys of an account in the order in which they were registered, with what `PublicKeyCredential.signalAllAcceptedCredentials` needs. It changes nothing.',
    tag,
  }),
  ...verbPost(KEY_VERBS.rename, {
    id: 'renameKey',
    summary: 'Rename a key',
    description: "Changes the user's name for a key.",
    tag,
  }),
  ...verbPost(KEY_VERBS.remove, {
    id: 'removeKey',
    summary: 'Remove a key',
    description:
      'Removes a key of an account, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
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
