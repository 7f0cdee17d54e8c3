import * as z from 'zod'
import type { ProblemCode } from '../pages/view.js'
import type { Frozen } from '../protocol/verb.js'
import * as answers from './http/answers.js'
import * as bodies from './http/bodies.js'

/** One operation of the routes: what `docs/openapi.json`, `docs/routes.md`, `Allow` and the types of its handler are made from. */
export interface RouteRow {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `urls.path`, with `:name` for a parameter, which Express 4 and 5 read alike. */
  readonly path: `/${string}`
  /** Who may send it, if not the user of every session, also of a pending login: everyone, or a signed-in user only. */
  readonly access?: 'public' | 'signed-in'
  readonly summary: string
  readonly description?: string
  /** The parameters in the path or the query. */
  readonly parameter?: z.ZodObject
  /** The fields of a POST. Defaults to none. */
  readonly body?: z.ZodType
  /** The size of the largest body in bytes, if it is not 4 KB. */
  readonly maxBodyBytes?: number
  /** The JSON of a success; left out for a page that only a browser gets. */
  readonly answer?: z.ZodType
  /** Whether it can complete a login: a client without cookies then gets tokens, or the next reference of its login. */
  readonly completesLogin?: true
  /** The problems that it can have besides those that others have, too. */
  readonly problems?: readonly ProblemCode[]
  /** Whether it calls the service, whose invalid responses are reported with 502, and whose refused key with `service_misconfigured`. */
  readonly asksService?: true
}

type Rows = Readonly<Record<string, RouteRow>>

const EVERYWHERE = [
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
  'method_not_allowed',
  'service_unavailable',
] as const satisfies readonly ProblemCode[]
const CHANGING = ['cross_site'] as const satisfies readonly ProblemCode[]
const WITH_BODY = [
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ProblemCode[]
/** With a session or a token; `invalid_request` if a request has both a signed-in session and the reference of a login. */
const WITH_SESSION = ['acting', 'other_user', 'invalid_request'] as const satisfies readonly ProblemCode[]

const SENDING = [
  'locked',
  'resend_too_soon',
  'too_many_messages',
  'method_off',
  'contact_refused',
  'phone_at_risk',
  'delivery_failed',
] as const satisfies readonly ProblemCode[]
const FACTOR_CHANGE = [
  'mfa_required',
  'step_up_required',
  'enrollment_required',
  'enrollment_not_allowed',
  'factors_withheld',
  'stronger_factor_unavailable',
] as const satisfies readonly ProblemCode[]
const OF_FACTORS = ['enrollment_required', 'factors_withheld'] as const satisfies readonly ProblemCode[]

const FACTOR_CHANGED = [...FACTOR_CHANGE, 'too_many_changes'] as const satisfies readonly ProblemCode[]

/** The problems that a page of the state shows. JSON has them as members of the state. */
const OF_STATE = ['locked', 'factors_withheld'] as const satisfies readonly ProblemCode[]

const verifyRouter = {
  verifyState: {
    method: 'GET',
    path: '/verify',
    summary: 'Show the code entry, or get the MFA status',
    answer: answers.mfaState,
    problems: OF_STATE,
  },
  verify: {
    method: 'POST',
    path: '/verify',
    summary: 'Verify a code, or the response of a security key or passkey',
    description:
      'A correct one makes the session a verified one, with a new id; or, with `approval`, approves one request.',
    body: bodies.verifyBody,
    completesLogin: true,
    answer: z.union([answers.verifiedAnswer, answers.approvedAnswer, answers.goesOnAnswer]),
    problems: [
      ...OF_FACTORS,
      'invalid_code',
      'malformed_code',
      'invalid_key',
      'code_expired',
      'no_challenge',
      'challenge_exhausted',
      'locked',
      'unknown_factor',
      'factor_disabled',
      'step_up_required',
      'bypass_code_required',
      'approval_ended',
    ],
    asksService: true,
  },
  resume: {
    method: 'GET',
    path: '/resume',
    summary: 'Offer a form again that a step-up interrupted',
  },
  backupCodesLeft: {
    method: 'GET',
    path: '/backup-codes-left',
    summary: 'Warn a user who signed in with one of the last backup codes',
  },
} as const satisfies Rows

const challengeRouter = {
  state: {
    method: 'GET',
    path: '/',
    summary: 'Get the MFA status and the factors of the user',
    description: 'Never sends or changes anything. Without a signed-in user the status is `none`.',
    answer: answers.mfaState,
    problems: OF_STATE,
  },
  challenge: {
    method: 'POST',
    path: '/challenge',
    summary: 'Start a challenge, or send its code again',
    body: bodies.challengeBody,
    answer: answers.challengedAnswer,
    problems: [
      ...OF_FACTORS,
      ...SENDING,
      'bypass_code_required',
      'unknown_factor',
      'factor_disabled',
      'details_too_long',
      'delivery_unavailable',
      'approval_ended',
    ],
    asksService: true,
  },
  cancel: {
    method: 'POST',
    path: '/cancel',
    summary: 'Cancel the pending login, refuse what is to be approved, or stop acting for a user',
    body: bodies.cancelBody,
    answer: answers.canceledAnswer,
    problems: ['not_found', 'approval_ended'],
  },
} as const satisfies Rows

const enrollAppRouter = {
  enrollAppPage: {
    method: 'GET',
    path: '/enroll-app',
    summary: 'Show the start of the enrollment',
    problems: FACTOR_CHANGE,
  },
  enrollApp: {
    method: 'POST',
    path: '/enroll-app',
    summary: 'Prepare an authenticator app',
    description:
      'The app is valid once its first code was confirmed. An app that is in use stays valid until then.',
    answer: answers.preparedAnswer,
    problems: [...FACTOR_CHANGE, 'too_many_approvals', 'method_off'],
    asksService: true,
  },
  confirmAppPage: {
    method: 'GET',
    path: '/enroll-app/confirm',
    summary: 'Show the QR code and the entry of the first code',
    problems: [...FACTOR_CHANGE, 'locked', 'enrollment_replaced'],
  },
  confirmApp: {
    method: 'POST',
    path: '/enroll-app/confirm',
    summary: 'Confirm an authenticator app with its first code',
    body: bodies.confirmBody,
    completesLogin: true,
    answer: answers.enrolledAnswer,
    problems: [
      ...FACTOR_CHANGED,
      'invalid_code',
      'malformed_code',
      'no_challenge',
      'enrollment_replaced',
      'challenge_exhausted',
      'locked',
      'method_off',
    ],
    asksService: true,
  },
  removeAppPage: {
    method: 'GET',
    path: '/enroll-app/remove',
    summary: 'Show what it means to remove the authenticator app',
    problems: FACTOR_CHANGE,
  },
  removeApp: {
    method: 'POST',
    path: '/enroll-app/remove',
    summary: 'Remove the authenticator app',
    description: '`method_off` if the service cannot, and `unknown_factor` if the account has none.',
    answer: answers.removedAnswer,
    problems: [...FACTOR_CHANGED, 'locked', 'unknown_factor', 'method_off'],
    asksService: true,
  },
  appEnrolledPage: {
    method: 'GET',
    path: '/enroll-app/done',
    summary: 'Show that the app is set up',
  },
} as const satisfies Rows

const enrollKeyRouter = {
  keys: {
    method: 'GET',
    path: '/keys',
    summary: 'List the security keys and passkeys',
    description: 'A user without a factor may read it while the login is pending, to add the first one.',
    answer: answers.keysAnswer,
    problems: ['mfa_required', ...OF_FACTORS, 'method_off'],
    asksService: true,
  },
  addKey: {
    method: 'POST',
    path: '/keys',
    summary: 'Add the security key or passkey that the browser created',
    description: 'It counts as shown, so the session is a verified one with a new id. At most 32 KB.',
    body: bodies.addKeyBody,
    maxBodyBytes: bodies.MAX_KEY_BODY_BYTES,
    completesLogin: true,
    answer: answers.keyAddedAnswer,
    problems: [...FACTOR_CHANGED, 'invalid_key', 'no_challenge', 'method_off'],
    asksService: true,
  },
  keyOptions: {
    method: 'POST',
    path: '/keys/options',
    summary: 'Prepare a security key or passkey',
    body: bodies.keyOptionsBody,
    answer: answers.keyOptionsAnswer,
    problems: [...FACTOR_CHANGE, 'too_many_approvals', 'method_off'],
    asksService: true,
  },
  renameKey: {
    method: 'POST',
    path: '/keys/rename',
    summary: 'Rename a security key or passkey',
    body: bodies.renameKeyBody,
    answer: answers.keyRenamedAnswer,
    problems: [...FACTOR_CHANGE, 'unknown_key', 'method_off'],
    asksService: true,
  },
  removeKeyPage: {
    method: 'GET',
    path: '/keys/remove',
    summary: 'Show what it means to remove a security key or passkey',
    problems: FACTOR_CHANGE,
    asksService: true,
  },
  removeKey: {
    method: 'POST',
    path: '/keys/remove',
    summary: 'Remove a security key or passkey',
    body: bodies.removeKeyBody,
    answer: answers.removedAnswer,
    problems: [...FACTOR_CHANGED, 'unknown_key', 'method_off'],
    asksService: true,
  },
  keyOfferPage: {
    method: 'GET',
    path: '/keys/offer',
    summary: 'Offer a passkey after a sign-in with a code',
  },
  declineKeyOffer: {
    method: 'POST',
    path: '/keys/offer/decline',
    summary: 'Continue without adding a passkey',
    description: 'For the form of the page only.',
  },
} as const satisfies Rows

const backupRouter = {
  backupPage: {
    method: 'GET',
    path: '/backup',
    summary: 'Show which contact receives backup codes',
    problems: FACTOR_CHANGE,
  },
  backup: {
    method: 'POST',
    path: '/backup',
    summary: 'Create and send new backup codes',
    description: 'The old codes are void.',
    answer: answers.backupSentAnswer,
    problems: [...FACTOR_CHANGED, ...SENDING, 'contact_needed'],
    asksService: true,
  },
  backupCodesPage: {
    method: 'GET',
    path: '/backup/codes',
    summary: 'Show new backup codes once',
  },
  createBackupCodes: {
    method: 'POST',
    path: '/backup/codes',
    summary: 'Create new backup codes and return them',
    description:
      'For a page that shows them once. The old codes are void. `method_off` if the service can only send them.',
    answer: answers.backupCreatedAnswer,
    problems: [
      ...FACTOR_CHANGED,
      'too_many_approvals',
      'locked',
      'too_many_messages',
      'method_off',
      'contact_refused',
      'phone_at_risk',
    ],
    asksService: true,
  },
  removeBackupCodesPage: {
    method: 'GET',
    path: '/backup/remove',
    summary: 'Show what it means to remove all backup codes',
    problems: FACTOR_CHANGE,
  },
  removeBackupCodes: {
    method: 'POST',
    path: '/backup/remove',
    summary: 'Remove all backup codes',
    description: '`method_off` if the service cannot, and `unknown_factor` if the account has none.',
    answer: answers.removedAnswer,
    problems: [...FACTOR_CHANGED, 'locked', 'unknown_factor', 'method_off'],
    asksService: true,
  },
  backupCodesSaved: {
    method: 'POST',
    path: '/backup/saved',
    summary: 'Confirm that the backup codes were saved',
    description: 'For pages. It forgets what the page with the codes needed.',
    answer: answers.backupSavedAnswer,
  },
} as const satisfies Rows

const devicesRouter = {
  devices: {
    method: 'GET',
    path: '/devices',
    access: 'signed-in',
    summary: 'List the trusted devices',
    answer: answers.devicesAnswer,
  },
  revokeDevices: {
    method: 'DELETE',
    path: '/devices',
    access: 'signed-in',
    summary: 'Revoke all trusted devices',
    answer: answers.revokedAnswer,
  },
  revokePosted: {
    method: 'POST',
    path: '/devices/revoke',
    access: 'signed-in',
    summary: 'Revoke one trusted device, by a form',
    body: bodies.revokeBody,
    answer: answers.revokedAnswer,
    problems: ['unknown_device'],
  },
  revokeAllPosted: {
    method: 'POST',
    path: '/devices/revoke-all',
    access: 'signed-in',
    summary: 'Revoke all trusted devices, by a form',
    answer: answers.revokedAnswer,
  },
  revokeDevice: {
    method: 'DELETE',
    path: '/devices/:device',
    access: 'signed-in',
    summary: 'Revoke one trusted device',
    parameter: bodies.revokeBody,
    answer: answers.revokedAnswer,
    problems: ['unknown_device'],
  },
} as const satisfies Rows

const notMeRouter = {
  notMe: {
    method: 'GET',
    path: '/not-me',
    access: 'public',
    summary: 'Ask whether a "this wasn\'t me" link is valid',
    description: 'Changes nothing. Requires no sign-in.',
    parameter: bodies.linkBody,
    answer: answers.notMeAnswer,
    problems: ['unknown_link'],
  },
  secure: {
    method: 'POST',
    path: '/not-me',
    access: 'public',
    summary: 'End all sessions, pending logins and trusted devices of the account whose notice had the link',
    description: 'Requires no sign-in. The link is valid once.',
    body: bodies.linkBody,
    answer: answers.notMeAnswer,
    problems: ['unknown_link'],
  },
} as const satisfies Rows

const recoveryRouter = {
  recovery: {
    method: 'GET',
    path: '/recover',
    summary: 'Get the pending recovery',
    description: 'Exists only with the option `recovery`.',
    answer: answers.recoveryAnswer,
    problems: ['mfa_required', 'enrollment_required'],
  },
  requestRecovery: {
    method: 'POST',
    path: '/recover',
    summary: 'Request a recovery',
    description:
      'Requires a factor of the last five minutes. Every contact of the account is notified. Returns the pending recovery if there is one.',
    answer: answers.recoveryAnswer,
    problems: [...FACTOR_CHANGE, 'recovery_not_needed', 'recovery_not_notified', 'too_many_messages'],
  },
  cancelRecovery: {
    method: 'POST',
    path: '/recover/cancel',
    summary: 'Cancel the pending recovery',
    answer: answers.recoveryCancelAnswer,
    problems: ['mfa_required', 'enrollment_required', 'no_recovery'],
  },
  completeRecovery: {
    method: 'POST',
    path: '/recover/complete',
    summary: 'Complete the recovery after the waiting period',
    description:
      'Ends the strongest factors, all sessions and all trusted devices. The session goes on as a pending login that sets up an authenticator app.',
    completesLogin: true,
    answer: answers.recoveredAnswer,
    problems: [...FACTOR_CHANGE, 'no_recovery', 'recovery_waiting', 'recovery_not_needed'],
  },
  cancelRecoveryPage: {
    method: 'GET',
    path: '/cancel-recovery',
    access: 'public',
    summary: 'Check the link in a notice of a recovery',
    description: 'Requires no sign-in, and changes nothing.',
    parameter: bodies.linkBody,
    answer: answers.recoveryCancelAnswer,
    problems: ['unknown_link'],
  },
  cancelRecoveryByLink: {
    method: 'POST',
    path: '/cancel-recovery',
    access: 'public',
    summary: 'Cancel a recovery by the link in a notice',
    description: 'Requires no sign-in.',
    body: bodies.linkBody,
    answer: answers.recoveryCancelAnswer,
    problems: ['unknown_link'],
  },
} as const satisfies Rows

const languageRouter = {
  chooseLanguage: {
    method: 'POST',
    path: '/language',
    access: 'public',
    summary: 'Choose the language of pages and messages',
    description: 'Requires no sign-in. Exists only with the option `languages`.',
    body: bodies.languageBody,
    answer: answers.chosenAnswer,
  },
} as const satisfies Rows

/** The operations of each router. Express tries one path after the other, so the first are those of every sign-in. */
export const PARTS = {
  verifyRouter,
  challengeRouter,
  enrollAppRouter,
  enrollKeyRouter,
  backupRouter,
  devicesRouter,
  notMeRouter,
  recoveryRouter,
  languageRouter,
} as const

/** Every operation of the routes. */
export const ROUTES = {
  ...verifyRouter,
  ...challengeRouter,
  ...enrollAppRouter,
  ...enrollKeyRouter,
  ...backupRouter,
  ...devicesRouter,
  ...notMeRouter,
  ...recoveryRouter,
  ...languageRouter,
} as const

type Routes = typeof ROUTES

/** A router of `createMfa` with routes. */
export type Part = keyof typeof PARTS

/** The name of an operation. */
export type RouteName = keyof Routes

/** The operations of a router. */
export type RouteNameOf<Name extends Part> = keyof (typeof PARTS)[Name] & RouteName

/** The fields of a request to an operation. */
export type BodyOf<Name extends RouteName> = Routes[Name] extends {
  readonly body: infer Body extends z.ZodType
}
  ? z.output<Body>
  : object

/** The JSON of a success. */
export type AnswerOf<Name extends RouteName> = Routes[Name] extends {
  readonly answer: infer Answer extends z.ZodType
}
  ? Frozen<z.output<Answer>> & object
  : never

/** The operations of some routers with their names, in the order of the table. */
export function listRoutes(
  parts = Object.keys(PARTS) as readonly Part[],
): readonly (readonly [RouteName, RouteRow])[] {
  return parts.flatMap((part) => Object.entries<RouteRow>(PARTS[part]) as [RouteName, RouteRow][])
}

/** The JSON of a success, also to a client with tokens whose login it completes. */
export function answerOf({ answer, completesLogin }: RouteRow): z.ZodType | undefined {
  if (!answer || !completesLogin) return answer
  const own = answer instanceof z.ZodUnion ? answer.options : [answer]
  return z.union([...own, answers.issuedAnswer])
}

/** Every problem that an operation can have. */
export function problemsOf({
  method,
  access,
  answer,
  asksService,
  problems = [],
}: RouteRow): ReadonlySet<ProblemCode> {
  return new Set([
    ...EVERYWHERE,
    ...(access === 'public' ? [] : WITH_SESSION),
    ...(access === 'signed-in' ? (['mfa_required'] as const) : []),
    ...(method === 'GET' ? [] : CHANGING),
    ...(method === 'POST' ? WITH_BODY : []),
    ...(answer ? [] : (['not_found'] as const)),
    ...(asksService ? (['service_misconfigured'] as const) : []),
    ...problems,
  ])
}
