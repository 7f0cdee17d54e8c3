import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import type { ProblemCode } from '../../src/pages/view.js'
import * as answers from '../../src/web/http/answers.js'
import * as bodies from '../../src/web/http/bodies.js'
import { statusOf, titleOf } from '../../src/web/http/problem.js'

const wire = { ...answers, ...bodies }

/** The problems of every route. */
const ANYWHERE = [
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
  'method_not_allowed',
  'service_unavailable',
] as const
/** The problems of every route that reads a body or changes something. */
const CHANGING = ['invalid_request', 'cross_site', 'body_too_large', 'unsupported_media_type'] as const
const SENDING = [
  'locked',
  'resend_too_soon',
  'too_many_messages',
  'method_off',
  'contact_refused',
  'phone_at_risk',
  'delivery_failed',
] as const

interface About {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: 'Second factor' | 'Factors' | 'Trusted devices' | 'Recovery' | 'Notices' | 'Pages'
  readonly body?: z.ZodType
  /** The JSON response; left out for a route that has only a page. */
  readonly answer?: z.ZodType
  readonly problems?: readonly ProblemCode[]
  /** Whether the route calls the service, whose invalid responses lead to 502 instead of 503. */
  readonly asksService?: boolean
  readonly parameters?: ZodOpenApiOperationObject['parameters']
}

const PAGE = { 'text/html': { schema: { type: 'string' } } } as const

function operation(about: About, isChanging: boolean): ZodOpenApiOperationObject {
  const {
    id,
    summary,
    description,
    tag,
    body = z.object({}),
    answer,
    problems = [],
    parameters,
    asksService,
  } = about
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(parameters && { parameters }),
    ...(isChanging && {
      requestBody: {
        content: {
          'application/json': { schema: body },
          'application/x-www-form-urlencoded': { schema: body },
        },
      },
    }),
    responses: {
      200: {
        description: answer ? 'Success. A browser gets a page, or a redirect (303).' : 'A page.',
        content: answer ? { 'application/json': { schema: answer }, ...PAGE } : PAGE,
      },
      ...problemResponses(
        [
          ...ANYWHERE,
          ...(isChanging ? CHANGING : []),
          ...(answer ? [] : (['not_found'] as const)),
          ...problems,
        ],
        asksService === true,
      ),
    },
  }
}

const get = (about: About) => ({ get: operation(about, false) })
const post = (about: About) => ({ post: operation(about, true) })
const remove = (about: About) => ({ delete: operation(about, false) })

/** One response for each status, with an example for each code that it can have. */
function problemResponses(
  codes: readonly ProblemCode[],
  asksService: boolean,
): ZodOpenApiOperationObject['responses'] {
  const all = [...new Set(codes)].sort()
  const isAt = (code: ProblemCode, status: number) =>
    statusOf(code) === status || (status === 502 && asksService && code.endsWith('_unavailable'))
  const statuses = [...new Set([...all.map((code) => statusOf(code)), ...(asksService ? [502] : [])])]
  return Object.fromEntries(
    statuses.map((status) => {
      const own = all.filter((code) => isAt(code, status))
      return [
        String(status),
        {
          description: own.map(titleOf).join(' '),
          ...(status === 429 && {
            headers: {
              'Retry-After': {
                description: 'Seconds to wait.',
                schema: { type: 'integer' as const, minimum: 1 },
              },
            },
          }),
          content: {
            'application/problem+json': {
              schema: wire.problemAnswer,
              examples: Object.fromEntries(
                own.map((code) => [
                  code,
                  { value: { type: `urn:countersign:problem:${code}`, title: titleOf(code), status, code } },
                ]),
              ),
            },
          },
        },
      ]
    }),
  )
}

const FACTOR_CHANGE = [
  'mfa_required',
  'step_up_required',
  'enrollment_required',
  'enrollment_not_allowed',
  'factors_withheld',
] as const
const DEVICE: ZodOpenApiOperationObject['parameters'] = [
  { name: 'device', in: 'path', required: true, description: "The device's id.", schema: { type: 'string' } },
]

const TOKEN: ZodOpenApiOperationObject['parameters'] = [
  {
    name: 'token',
    in: 'query',
    required: true,
    description: 'The token in the link.',
    schema: { type: 'string' },
  },
]

/** The page that asks before a factor is removed, and its removal. */
function removal(factor: 'app' | 'backup', what: string): ZodOpenApiPathsObject[string] {
  const id = factor === 'app' ? 'App' : 'BackupCodes'
  return {
    ...get({
      id: `remove${id}Page`,
      summary: `Show what it means to remove ${what}`,
      tag: 'Factors',
      problems: FACTOR_CHANGE,
    }),
    ...post({
      id: `remove${id}`,
      asksService: true,
      summary: `Remove ${what}`,
      description: '`method_off` if the service cannot, and `unknown_factor` if the account has none.',
      tag: 'Factors',
      answer: wire.removedAnswer,
      problems: [...FACTOR_CHANGE, 'locked', 'unknown_factor', 'method_off', 'service_misconfigured'],
    }),
  }
}

/** Every route below the path at which `mfaRouter` is mounted. */
const PATHS: ZodOpenApiPathsObject = {
  '/': get({
    id: 'state',
    summary: 'Get the MFA status and the factors of the user',
    description: 'Never sends or changes anything. Without a signed-in user the status is `none`.',
    tag: 'Second factor',
    answer: wire.mfaState,
  }),
  '/challenge': post({
    id: 'challenge',
    asksService: true,
    summary: 'Start a challenge, or send its code again',
    tag: 'Second factor',
    body: wire.challengeBody,
    answer: wire.challengedAnswer,
    problems: [
      ...SENDING,
      'bypass_code_required',
      'unknown_factor',
      'factor_disabled',
      'enrollment_required',
      'factors_withheld',
      'delivery_unavailable',
      'approval_ended',
      'service_misconfigured',
    ],
  }),
  '/verify': {
    ...get({
      id: 'verifyState',
      summary: 'Show the code entry, or get the MFA status',
      tag: 'Second factor',
      answer: wire.mfaState,
    }),
    ...post({
      id: 'verify',
      asksService: true,
      summary: 'Verify a code, or the response of a security key or passkey',
      description:
        'A correct one makes the session a verified one, with a new id; or, with `approval`, approves one request.',
      tag: 'Second factor',
      body: wire.verifyBody,
      answer: z.union([wire.verifiedAnswer, wire.approvedAnswer, wire.goesOnAnswer, wire.issuedAnswer]),
      problems: [
        'invalid_code',
        'malformed_code',
        'invalid_key',
        'code_expired',
        'no_challenge',
        'challenge_exhausted',
        'locked',
        'unknown_factor',
        'factor_disabled',
        'enrollment_required',
        'factors_withheld',
        'step_up_required',
        'bypass_code_required',
        'approval_ended',
        'service_misconfigured',
      ],
    }),
  },
  '/resume': get({
    id: 'resume',
    summary: 'Offer a form again that a step-up interrupted',
    tag: 'Second factor',
  }),
  '/backup-codes-left': get({
    id: 'backupCodesLeft',
    summary: 'Warn a user who signed in with one of the last backup codes',
    tag: 'Second factor',
  }),
  '/cancel': post({
    id: 'cancel',
    summary: 'Cancel the pending login, refuse what is to be approved, or stop acting for a user',
    tag: 'Second factor',
    body: wire.cancelBody,
    answer: wire.canceledAnswer,
    problems: ['not_found', 'approval_ended'],
  }),
  '/enroll-app': {
    ...get({
      id: 'enrollAppPage',
      summary: 'Show the start of the enrollment',
      tag: 'Factors',
      problems: FACTOR_CHANGE,
    }),
    ...post({
      id: 'enrollApp',
      asksService: true,
      summary: 'Prepare an authenticator app',
      description:
        'The app is valid once its first code was confirmed. An app that is in use stays valid until then.',
      tag: 'Factors',
      answer: wire.preparedAnswer,
      problems: [...FACTOR_CHANGE, 'too_many_approvals', 'method_off', 'service_misconfigured'],
    }),
  },
  '/enroll-app/confirm': {
    ...get({
      id: 'confirmAppPage',
      summary: 'Show the QR code and the entry of the first code',
      tag: 'Factors',
    }),
    ...post({
      id: 'confirmApp',
      asksService: true,
      summary: 'Confirm an authenticator app with its first code',
      tag: 'Factors',
      body: wire.confirmBody,
      answer: wire.enrolledAnswer,
      problems: [
        'mfa_required',
        'invalid_code',
        'malformed_code',
        'no_challenge',
        'enrollment_replaced',
        'challenge_exhausted',
        'locked',
        'service_misconfigured',
      ],
    }),
  },
  '/enroll-app/remove': removal('app', 'the authenticator app'),
  '/enroll-app/done': get({ id: 'appEnrolledPage', summary: 'Show that the app is set up', tag: 'Factors' }),
  '/keys': {
    ...get({
      id: 'keys',
      asksService: true,
      summary: 'List the security keys and passkeys',
      description: 'A user without a factor may read it while the login is pending, to add the first one.',
      tag: 'Factors',
      answer: wire.keysAnswer,
      problems: ['mfa_required', 'enrollment_required', 'method_off', 'service_misconfigured'],
    }),
    ...post({
      id: 'addKey',
      asksService: true,
      summary: 'Add the security key or passkey that the browser created',
      description: 'It counts as shown, so the session is a verified one with a new id. At most 32 KB.',
      tag: 'Factors',
      body: wire.addKeyBody,
      answer: wire.keyAddedAnswer,
      problems: [...FACTOR_CHANGE, 'invalid_key', 'no_challenge', 'method_off', 'service_misconfigured'],
    }),
  },
  '/keys/options': post({
    id: 'keyOptions',
    asksService: true,
    summary: 'Prepare a security key or passkey',
    tag: 'Factors',
    body: wire.keyOptionsBody,
    answer: wire.keyOptionsAnswer,
    problems: [...FACTOR_CHANGE, 'too_many_approvals', 'method_off', 'service_misconfigured'],
  }),
  '/keys/rename': post({
    id: 'renameKey',
    asksService: true,
    summary: 'Rename a security key or passkey',
    tag: 'Factors',
    body: wire.renameKeyBody,
    answer: wire.keyRenamedAnswer,
    problems: [...FACTOR_CHANGE, 'unknown_key', 'method_off', 'service_misconfigured'],
  }),
  '/keys/remove': {
    ...get({
      id: 'removeKeyPage',
      asksService: true,
      summary: 'Show what it means to remove a security key or passkey',
      tag: 'Factors',
      problems: FACTOR_CHANGE,
    }),
    ...post({
      id: 'removeKey',
      asksService: true,
      summary: 'Remove a security key or passkey',
      tag: 'Factors',
      body: wire.removeKeyBody,
      answer: wire.removedAnswer,
      problems: [...FACTOR_CHANGE, 'unknown_key', 'method_off', 'service_misconfigured'],
    }),
  },
  '/keys/offer': get({
    id: 'keyOfferPage',
    summary: 'Offer a passkey after a sign-in with a code',
    tag: 'Factors',
  }),
  '/keys/offer/decline': post({
    id: 'declineKeyOffer',
    summary: 'Continue without adding a passkey',
    description: 'For the form of the page only.',
    tag: 'Factors',
    problems: ['not_found'],
  }),
  '/backup': {
    ...get({
      id: 'backupPage',
      summary: 'Show which contact receives backup codes',
      tag: 'Factors',
      problems: FACTOR_CHANGE,
    }),
    ...post({
      id: 'backup',
      asksService: true,
      summary: 'Create and send new backup codes',
      description: 'The old codes are void.',
      tag: 'Factors',
      answer: wire.backupSentAnswer,
      problems: [...FACTOR_CHANGE, ...SENDING, 'contact_needed', 'service_misconfigured'],
    }),
  },
  '/backup/codes': {
    ...get({ id: 'backupCodesPage', summary: 'Show new backup codes once', tag: 'Factors' }),
    ...post({
      id: 'createBackupCodes',
      asksService: true,
      summary: 'Create new backup codes and return them',
      description:
        'For a page that shows them once. The old codes are void. `method_off` if the service can only send them.',
      tag: 'Factors',
      answer: wire.backupCreatedAnswer,
      problems: [
        ...FACTOR_CHANGE,
        'too_many_approvals',
        'locked',
        'too_many_messages',
        'method_off',
        'contact_refused',
        'phone_at_risk',
        'service_misconfigured',
      ],
    }),
  },
  '/backup/remove': removal('backup', 'all backup codes'),
  '/backup/saved': post({
    id: 'backupCodesSaved',
    summary: 'Confirm that the backup codes were saved',
    description: 'For pages. It forgets what the page with the codes needed.',
    tag: 'Factors',
    answer: wire.backupSavedAnswer,
  }),
  '/devices': {
    ...get({
      id: 'devices',
      summary: 'List the trusted devices',
      tag: 'Trusted devices',
      answer: wire.devicesAnswer,
      problems: ['mfa_required'],
    }),
    ...remove({
      id: 'revokeDevices',
      summary: 'Revoke all trusted devices',
      tag: 'Trusted devices',
      answer: wire.revokedAnswer,
      problems: ['mfa_required', 'cross_site'],
    }),
  },
  '/devices/revoke': post({
    id: 'revokePosted',
    summary: 'Revoke one trusted device, by a form',
    tag: 'Trusted devices',
    body: wire.revokeBody,
    answer: wire.revokedAnswer,
    problems: ['mfa_required', 'unknown_device'],
  }),
  '/devices/revoke-all': post({
    id: 'revokeAllPosted',
    summary: 'Revoke all trusted devices, by a form',
    tag: 'Trusted devices',
    answer: wire.revokedAnswer,
    problems: ['mfa_required'],
  }),
  '/devices/{device}': remove({
    id: 'revokeDevice',
    summary: 'Revoke one trusted device',
    tag: 'Trusted devices',
    answer: wire.revokedAnswer,
    parameters: DEVICE,
    problems: ['mfa_required', 'unknown_device', 'cross_site'],
  }),
  '/recover': {
    ...get({
      id: 'recovery',
      summary: 'Get the pending recovery',
      description: 'Exists only with the option `recovery`.',
      tag: 'Recovery',
      answer: wire.recoveryAnswer,
      problems: ['mfa_required'],
    }),
    ...post({
      id: 'requestRecovery',
      summary: 'Request a recovery',
      description:
        'Requires a factor of the last five minutes. Every contact of the account is notified. Returns the pending recovery if there is one.',
      tag: 'Recovery',
      answer: wire.recoveryAnswer,
      problems: [...FACTOR_CHANGE, 'recovery_not_needed', 'recovery_not_notified', 'too_many_messages'],
    }),
  },
  '/recover/cancel': post({
    id: 'cancelRecovery',
    summary: 'Cancel the pending recovery',
    tag: 'Recovery',
    answer: wire.recoveryCancelAnswer,
    problems: ['mfa_required', 'no_recovery'],
  }),
  '/recover/complete': post({
    id: 'completeRecovery',
    summary: 'Complete the recovery after the waiting period',
    description:
      'Ends the strongest factors, all sessions and all trusted devices. The session goes on as a pending login that sets up an authenticator app.',
    tag: 'Recovery',
    answer: wire.recoveredAnswer,
    problems: [
      ...FACTOR_CHANGE,
      'enrollment_required',
      'no_recovery',
      'recovery_waiting',
      'recovery_not_needed',
    ],
  }),
  '/cancel-recovery': {
    ...get({
      id: 'cancelRecoveryPage',
      summary: 'Check the link in a notice of a recovery',
      description: 'Requires no sign-in, and changes nothing.',
      tag: 'Recovery',
      answer: wire.recoveryCancelAnswer,
      parameters: TOKEN,
      problems: ['unknown_link'],
    }),
    ...post({
      id: 'cancelRecoveryByLink',
      summary: 'Cancel a recovery by the link in a notice',
      description: 'Requires no sign-in.',
      tag: 'Recovery',
      body: wire.linkBody,
      answer: wire.recoveryCancelAnswer,
      problems: ['unknown_link'],
    }),
  },
  '/language': post({
    id: 'chooseLanguage',
    summary: 'Choose the language of pages and messages',
    description: 'Requires no sign-in. Exists only with the option `languages`.',
    tag: 'Pages',
    body: wire.languageBody,
    answer: wire.chosenAnswer,
  }),
  '/not-me': {
    ...get({
      id: 'notMe',
      summary: 'Ask whether a "this wasn\'t me" link is valid',
      description: 'Changes nothing. Requires no sign-in.',
      tag: 'Notices',
      answer: wire.notMeAnswer,
      parameters: TOKEN,
      problems: ['unknown_link'],
    }),
    ...post({
      id: 'secure',
      summary:
        'End all sessions, pending logins and trusted devices of the account whose notice had the link',
      description: 'Requires no sign-in. The link is valid once.',
      tag: 'Notices',
      body: wire.linkBody,
      answer: wire.notMeAnswer,
      problems: ['unknown_link'],
    }),
  },
}

/** The OpenAPI 3.1 document of the plugin's routes, generated from the schemas that type them. */
export const openApi = createDocument(
  {
    openapi: '3.1.1',
    info: {
      title: 'Countersign: the routes of the plugin',
      version: '1',
      description:
        'Paths are relative to the path at which `mfaRouter` is mounted, `/mfa` by default. Send `Accept: application/json`; bodies are JSON or forms of at most 4 KB. The session cookie of the app identifies the user; an app with tokens takes `MFA-Login`, an access token, or both. A response that is not a success is `application/problem+json` (RFC 9457) with a stable `code`. The routes of trusted devices exist with the option `trustedDevices`, those of notices with links in notices.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/mfa' }],
    tags: [
      { name: 'Second factor' },
      { name: 'Factors' },
      { name: 'Trusted devices' },
      { name: 'Notices' },
      { name: 'Pages' },
    ],
    paths: PATHS,
    security: [{}, { login: [] }, { token: [] }, { login: [], token: [] }],
    components: {
      securitySchemes: {
        login: {
          type: 'apiKey',
          in: 'header',
          name: 'MFA-Login',
          description:
            'With the option `tokens`: the `login` of an answer. A pending login needs nothing else; a step-up needs the access token, too.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'With the option `tokens`: an access token of the app.',
        },
      },
      schemas: {
        MfaState: wire.mfaState,
        Factor: wire.factorAnswer,
        ChallengeBody: wire.challengeBody,
        Challenged: wire.challengedAnswer,
        Verified: wire.verifiedAnswer,
        Approved: wire.approvedAnswer,
        Canceled: wire.canceledAnswer,
        Prepared: wire.preparedAnswer,
        ConfirmBody: wire.confirmBody,
        Enrolled: wire.enrolledAnswer,
        BackupSent: wire.backupSentAnswer,
        BackupCreated: wire.backupCreatedAnswer,
        Keys: wire.keysAnswer,
        KeyOptionsBody: wire.keyOptionsBody,
        KeyOptions: wire.keyOptionsAnswer,
        AddKeyBody: wire.addKeyBody,
        KeyAdded: wire.keyAddedAnswer,
        RenameKeyBody: wire.renameKeyBody,
        KeyRenamed: wire.keyRenamedAnswer,
        RemoveKeyBody: wire.removeKeyBody,
        Removed: wire.removedAnswer,
        Devices: wire.devicesAnswer,
        RevokeBody: wire.revokeBody,
        Revoked: wire.revokedAnswer,
        LinkBody: wire.linkBody,
        NotMe: wire.notMeAnswer,
        Problem: wire.problemAnswer,
      },
    },
  },
  {
    // Later releases may add properties, which a client must ignore.
    override: ({ jsonSchema, io }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  },
)
