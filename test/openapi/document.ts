import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { statusOf, titleOf } from '../../src/http/problem.js'
import * as wire from '../../src/http/schemas.js'
import type { ProblemCode } from '../../src/pages/view.js'

/** What any route may answer. */
const ANYWHERE = [
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
  'method_not_allowed',
  'service_unavailable',
] as const
/** What any route may answer that reads a body or changes something. */
const CHANGING = ['invalid_request', 'cross_site', 'body_too_large', 'unsupported_media_type'] as const
const SENDING = [
  'locked',
  'resend_too_soon',
  'too_many_messages',
  'method_off',
  'contact_refused',
  'delivery_failed',
] as const

interface About {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly tag: 'Second factor' | 'Factors' | 'Trusted devices' | 'Notices' | 'Pages'
  readonly body?: z.ZodType
  /** Left out for what is only a page. */
  readonly answer?: z.ZodType
  readonly problems?: readonly ProblemCode[]
  /** Whether the service is asked, which may answer nonsense: 502 instead of 503. */
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
        description: answer ? 'Done. A browser gets a page, or is sent on by a 303.' : 'A page.',
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

/** One answer for each status, with an example for each code that it may carry. */
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

const FACTOR_CHANGE = ['mfa_required', 'step_up_required'] as const
const DEVICE: ZodOpenApiOperationObject['parameters'] = [
  { name: 'device', in: 'path', required: true, description: "The device's id.", schema: { type: 'string' } },
]

const TOKEN: ZodOpenApiOperationObject['parameters'] = [
  { name: 'token', in: 'query', required: true, description: 'From the link.', schema: { type: 'string' } },
]

/** Every route below the path at which `mfaRouter` is mounted. */
const PATHS: ZodOpenApiPathsObject = {
  '/': get({
    id: 'state',
    summary: 'Where somebody stands, and the factors there are',
    description: 'Never sends or changes anything. Somebody who is not signed in gets `none`.',
    tag: 'Second factor',
    answer: wire.mfaState,
  }),
  '/challenge': post({
    id: 'challenge',
    asksService: true,
    summary: 'Ask for a code, or for the same one again',
    tag: 'Second factor',
    body: wire.challengeBody,
    answer: wire.challengedAnswer,
    problems: [
      ...SENDING,
      'unknown_factor',
      'factor_disabled',
      'enrollment_required',
      'delivery_unavailable',
      'service_misconfigured',
    ],
  }),
  '/verify': {
    ...get({
      id: 'verifyState',
      summary: 'The code entry; the state as JSON',
      tag: 'Second factor',
      answer: wire.mfaState,
    }),
    ...post({
      id: 'verify',
      asksService: true,
      summary: 'Check a code',
      description: 'A right code makes the session a verified one, with a new id.',
      tag: 'Second factor',
      body: wire.verifyBody,
      answer: wire.verifiedAnswer,
      problems: [
        'invalid_code',
        'code_expired',
        'no_challenge',
        'challenge_exhausted',
        'locked',
        'unknown_factor',
        'factor_disabled',
        'enrollment_required',
        'step_up_required',
        'service_misconfigured',
      ],
    }),
  },
  '/resume': get({ id: 'resume', summary: 'Offer once more what a rule interrupted', tag: 'Second factor' }),
  '/backup-codes-left': get({
    id: 'backupCodesLeft',
    summary: 'Warn somebody who signed in by one of the last backup codes',
    tag: 'Second factor',
  }),
  '/cancel': post({
    id: 'cancel',
    summary: 'End the half-login',
    tag: 'Second factor',
    answer: wire.cancelledAnswer,
    problems: ['not_found'],
  }),
  '/enroll-app': {
    ...get({
      id: 'enrollAppPage',
      summary: 'Before setting up an app',
      tag: 'Factors',
      problems: FACTOR_CHANGE,
    }),
    ...post({
      id: 'enrollApp',
      asksService: true,
      summary: 'Prepare an authenticator app',
      description:
        'It counts when its first code was confirmed; an app that is in use stays in use until then.',
      tag: 'Factors',
      answer: wire.preparedAnswer,
      problems: [...FACTOR_CHANGE, 'contact_needed', 'method_off', 'service_misconfigured'],
    }),
  },
  '/enroll-app/confirm': {
    ...get({ id: 'confirmAppPage', summary: 'The entry of its first code', tag: 'Factors' }),
    ...post({
      id: 'confirmApp',
      asksService: true,
      summary: 'Confirm an authenticator app by its first code',
      tag: 'Factors',
      body: wire.confirmBody,
      answer: wire.enrolledAnswer,
      problems: [
        'mfa_required',
        'invalid_code',
        'no_challenge',
        'challenge_exhausted',
        'locked',
        'service_misconfigured',
      ],
    }),
  },
  '/backup': {
    ...get({
      id: 'backupPage',
      summary: 'Where backup codes would go',
      tag: 'Factors',
      problems: [...FACTOR_CHANGE, 'enrollment_required'],
    }),
    ...post({
      id: 'backup',
      asksService: true,
      summary: 'Have new backup codes made and delivered',
      description: 'The old ones stop working.',
      tag: 'Factors',
      answer: wire.backupSentAnswer,
      problems: [
        ...FACTOR_CHANGE,
        ...SENDING,
        'enrollment_required',
        'contact_needed',
        'service_misconfigured',
      ],
    }),
  },
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
      summary: 'Forget all',
      tag: 'Trusted devices',
      answer: wire.revokedAnswer,
      problems: ['mfa_required', 'cross_site'],
    }),
  },
  '/devices/revoke': post({
    id: 'revokePosted',
    summary: 'Forget one, for browsers without scripts',
    tag: 'Trusted devices',
    body: wire.revokeBody,
    answer: wire.revokedAnswer,
    problems: ['mfa_required', 'unknown_device'],
  }),
  '/devices/revoke-all': post({
    id: 'revokeAllPosted',
    summary: 'Forget all, for browsers without scripts',
    tag: 'Trusted devices',
    answer: wire.revokedAnswer,
    problems: ['mfa_required'],
  }),
  '/devices/{device}': remove({
    id: 'revokeDevice',
    summary: 'Forget one',
    tag: 'Trusted devices',
    answer: wire.revokedAnswer,
    parameters: DEVICE,
    problems: ['mfa_required', 'unknown_device', 'cross_site'],
  }),
  '/language': post({
    id: 'chooseLanguage',
    summary: 'Choose the language of pages and messages',
    description: 'Nobody has to be signed in. Only with the option `languages`.',
    tag: 'Pages',
    body: wire.languageBody,
    answer: wire.chosenAnswer,
  }),
  '/not-me': {
    ...get({
      id: 'notMe',
      summary: 'Whether the link of a notice can be used',
      description: 'Changes nothing. Nobody has to be signed in.',
      tag: 'Notices',
      answer: wire.notMeAnswer,
      parameters: TOKEN,
      problems: ['unknown_link'],
    }),
    ...post({
      id: 'secure',
      summary: 'End all sessions, half-logins and trust of the account whose notice had the link',
      description: 'Nobody has to be signed in. The link is used up.',
      tag: 'Notices',
      body: wire.notMeBody,
      answer: wire.notMeAnswer,
      problems: ['unknown_link'],
    }),
  },
}

/** The OpenAPI 3.1 document of the plugin's routes, made of the schemas that type them. */
export const openApi = createDocument(
  {
    openapi: '3.1.1',
    info: {
      title: 'Countersign: the routes of the plugin',
      version: '1',
      description:
        'Relative to where `mfaRouter` is mounted, `/mfa` unless said otherwise. Ask for `application/json`; bodies are JSON or forms of at most 4 KB. Who is asking is known by the session cookie of the app. Answers that are no success are `application/problem+json` (RFC 9457) with a stable `code`. The routes of trusted devices exist when the app offers them, those of notices when it has links in them.',
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
    components: {
      schemas: {
        MfaState: wire.mfaState,
        Factor: wire.factorAnswer,
        ChallengeBody: wire.challengeBody,
        Challenged: wire.challengedAnswer,
        Verified: wire.verifiedAnswer,
        Cancelled: wire.cancelledAnswer,
        Prepared: wire.preparedAnswer,
        ConfirmBody: wire.confirmBody,
        Enrolled: wire.enrolledAnswer,
        BackupSent: wire.backupSentAnswer,
        Devices: wire.devicesAnswer,
        RevokeBody: wire.revokeBody,
        Revoked: wire.revokedAnswer,
        NotMeBody: wire.notMeBody,
        NotMe: wire.notMeAnswer,
        Problem: wire.problemAnswer,
      },
    },
  },
  {
    // Answers may grow: a client must not refuse one for a member it does not know.
    override: ({ jsonSchema, io }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  },
)
