import * as z from 'zod'
import type { ProblemCode } from '../pages/view.js'
import type { Frozen } from '../protocol/verb.js'
import * as answers from './answers.js'
import * as bodies from './bodies.js'

type Method = 'GET' | 'POST' | 'DELETE'
type Codes = readonly ProblemCode[]

/** One operation of the routes: what `docs/openapi.json`, `docs/routes.md`, `Allow`, `check`, `attack` and the types of its handler are made from. */
export interface RouteRow {
  /** The method, and the path below `urls.path`, with `:name` for a parameter, which Express 4 and 5 read alike. */
  readonly route: `${Method} /${string}`
  /** Who may send it. Defaults to the user of every session, also of a pending login. */
  readonly access?: keyof typeof OF_ACCESS
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
  /** The problems that it can have besides those of its method and its access. */
  readonly problems?: Codes
}

const EVERYWHERE: Codes = [
  'sign_in_required',
  'pending_login_expired',
  'session_ended',
  'method_not_allowed',
  'service_unavailable',
]

const OF_METHOD: Readonly<Record<Method, Codes>> = {
  GET: [],
  POST: ['cross_site', 'invalid_request', 'body_too_large', 'unsupported_media_type'],
  DELETE: ['cross_site'],
}

/** With a session or a token; `invalid_request` if a request has both a signed-in session and the reference of a login. */
const WITH_SESSION: Codes = ['acting', 'other_user', 'invalid_request']
const OF_FACTORS: Codes = ['enrollment_required', 'factors_withheld']
const BY_STRONGEST: Codes = [
  ...OF_FACTORS,
  'mfa_required',
  'step_up_required',
  'enrollment_not_allowed',
  'stronger_factor_unavailable',
]

const OF_ACCESS = {
  /** Everyone. */
  public: [],
  pending: WITH_SESSION,
  'signed-in': [...WITH_SESSION, 'mfa_required'],
  /** A user who has just shown the strongest factor, or sets up the first one. */
  strongest: [...WITH_SESSION, ...BY_STRONGEST],
} satisfies Readonly<Record<string, Codes>>

/** The problems that a page of the state shows. JSON has them as members of the state. */
const OF_STATE: Codes = ['locked', 'factors_withheld']
/** Of what the service may not offer. */
const OF_SERVICE: Codes = ['service_misconfigured', 'method_off']
const PREPARING: Codes = [...OF_SERVICE, 'too_many_approvals']
const CHANGING: Codes = [...OF_SERVICE, 'too_many_changes']
const REMOVING: Codes = [...CHANGING, 'locked', 'unknown_factor']
const OF_CODE: Codes = ['invalid_code', 'malformed_code', 'no_challenge', 'challenge_exhausted', 'locked']
const OF_CONTACT: Codes = ['locked', 'too_many_messages', 'contact_refused', 'phone_at_risk']
const SENDING: Codes = [...OF_SERVICE, ...OF_CONTACT, 'resend_too_soon', 'delivery_failed']

/** The operations of each router of `createMfa`. Express tries one path after the other, so the first are those of every sign-in. */
export const PARTS = {
  verifyRouter: {
    verifyState: {
      route: 'GET /verify',
      summary: 'Show the code entry, or get the MFA status',
      answer: answers.mfaState,
      problems: OF_STATE,
    },
    verify: {
      route: 'POST /verify',
      summary: 'Verify a code, or the response of a security key or passkey',
      description:
        'A correct one makes the session a verified one, with a new id; or, with `approval`, approves one request.',
      body: bodies.verifyBody,
      completesLogin: true,
      answer: z.union([answers.verifiedAnswer, answers.approvedAnswer, answers.goesOnAnswer]),
      problems: [
        ...OF_FACTORS,
        ...OF_CODE,
        'invalid_key',
        'code_expired',
        'unknown_factor',
        'factor_disabled',
        'step_up_required',
        'bypass_code_required',
        'approval_ended',
        'service_misconfigured',
      ],
    },
    resume: {
      route: 'GET /resume',
      summary: 'Offer a form again that a step-up interrupted',
    },
    backupCodesLeft: {
      route: 'GET /backup-codes-left',
      summary: 'Warn a user who signed in with one of the last backup codes',
    },
  },
  challengeRouter: {
    state: {
      route: 'GET /',
      summary: 'Get the MFA status and the factors of the user',
      description: 'Never sends or changes anything. Without a signed-in user the status is `none`.',
      answer: answers.mfaState,
      problems: OF_STATE,
    },
    challenge: {
      route: 'POST /challenge',
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
    },
    cancel: {
      route: 'POST /cancel',
      summary: 'Cancel the pending login, refuse what is to be approved, or stop acting for a user',
      body: bodies.cancelBody,
      answer: answers.canceledAnswer,
      problems: ['not_found', 'approval_ended'],
    },
  },
  enrollAppRouter: {
    enrollAppPage: {
      route: 'GET /enroll-app',
      access: 'strongest',
      summary: 'Show the start of the enrollment',
    },
    enrollApp: {
      route: 'POST /enroll-app',
      access: 'strongest',
      summary: 'Prepare an authenticator app',
      description:
        'The app is valid once its first code was confirmed. An app that is in use stays valid until then.',
      answer: answers.preparedAnswer,
      problems: PREPARING,
    },
    confirmAppPage: {
      route: 'GET /enroll-app/confirm',
      access: 'strongest',
      summary: 'Show the QR code and the entry of the first code',
      problems: ['locked', 'enrollment_replaced'],
    },
    confirmApp: {
      route: 'POST /enroll-app/confirm',
      access: 'strongest',
      summary: 'Confirm an authenticator app with its first code',
      body: bodies.confirmBody,
      completesLogin: true,
      answer: answers.enrolledAnswer,
      problems: [...CHANGING, ...OF_CODE, 'enrollment_replaced'],
    },
    removeAppPage: {
      route: 'GET /enroll-app/remove',
      access: 'strongest',
      summary: 'Show what it means to remove the authenticator app',
    },
    removeApp: {
      route: 'POST /enroll-app/remove',
      access: 'strongest',
      summary: 'Remove the authenticator app',
      description: '`method_off` if the service cannot, and `unknown_factor` if the account has none.',
      answer: answers.removedAnswer,
      problems: REMOVING,
    },
    appEnrolledPage: {
      route: 'GET /enroll-app/done',
      summary: 'Show that the app is set up',
    },
  },
  enrollKeyRouter: {
    keys: {
      route: 'GET /keys',
      summary: 'List the security keys and passkeys',
      description: 'A user without a factor may read it while the login is pending, to add the first one.',
      answer: answers.keysAnswer,
      problems: ['mfa_required', ...OF_FACTORS, ...OF_SERVICE],
    },
    addKey: {
      route: 'POST /keys',
      access: 'strongest',
      summary: 'Add the security key or passkey that the browser created',
      description: 'It counts as shown, so the session is a verified one with a new id. At most 32 KB.',
      body: bodies.addKeyBody,
      maxBodyBytes: bodies.MAX_KEY_BODY_BYTES,
      completesLogin: true,
      answer: answers.keyAddedAnswer,
      problems: [...CHANGING, 'invalid_key', 'no_challenge'],
    },
    keyOptions: {
      route: 'POST /keys/options',
      access: 'strongest',
      summary: 'Prepare a security key or passkey',
      body: bodies.keyOptionsBody,
      answer: answers.keyOptionsAnswer,
      problems: PREPARING,
    },
    renameKey: {
      route: 'POST /keys/rename',
      access: 'strongest',
      summary: 'Rename a security key or passkey',
      body: bodies.renameKeyBody,
      answer: answers.keyRenamedAnswer,
      problems: [...OF_SERVICE, 'unknown_key'],
    },
    removeKeyPage: {
      route: 'GET /keys/remove',
      access: 'strongest',
      summary: 'Show what it means to remove a security key or passkey',
      problems: ['service_misconfigured'],
    },
    removeKey: {
      route: 'POST /keys/remove',
      access: 'strongest',
      summary: 'Remove a security key or passkey',
      body: bodies.removeKeyBody,
      answer: answers.removedAnswer,
      problems: [...CHANGING, 'unknown_key'],
    },
    keyOfferPage: {
      route: 'GET /keys/offer',
      summary: 'Offer a passkey after a sign-in with a code',
    },
    declineKeyOffer: {
      route: 'POST /keys/offer/decline',
      summary: 'Continue without adding a passkey',
      description: 'For the form of the page only.',
    },
  },
  backupRouter: {
    backupPage: {
      route: 'GET /backup',
      access: 'strongest',
      summary: 'Show which contact receives backup codes',
    },
    backup: {
      route: 'POST /backup',
      access: 'strongest',
      summary: 'Create and send new backup codes',
      description: 'The old codes are void.',
      answer: answers.backupSentAnswer,
      problems: [...CHANGING, ...SENDING, 'contact_needed'],
    },
    backupCodesPage: {
      route: 'GET /backup/codes',
      summary: 'Show new backup codes once',
    },
    createBackupCodes: {
      route: 'POST /backup/codes',
      access: 'strongest',
      summary: 'Create new backup codes and return them',
      description:
        'For a page that shows them once. The old codes are void. `method_off` if the service can only send them.',
      answer: answers.backupCreatedAnswer,
      problems: [...PREPARING, ...CHANGING, ...OF_CONTACT],
    },
    removeBackupCodesPage: {
      route: 'GET /backup/remove',
      access: 'strongest',
      summary: 'Show what it means to remove all backup codes',
    },
    removeBackupCodes: {
      route: 'POST /backup/remove',
      access: 'strongest',
      summary: 'Remove all backup codes',
      description: '`method_off` if the service cannot, and `unknown_factor` if the account has none.',
      answer: answers.removedAnswer,
      problems: REMOVING,
    },
    backupCodesSaved: {
      route: 'POST /backup/saved',
      summary: 'Confirm that the backup codes were saved',
      description: 'For pages. It forgets what the page with the codes needed.',
      answer: answers.backupSavedAnswer,
    },
  },
  devicesRouter: {
    devices: {
      route: 'GET /devices',
      access: 'signed-in',
      summary: 'List the trusted devices',
      answer: answers.devicesAnswer,
    },
    revokeDevices: {
      route: 'DELETE /devices',
      access: 'signed-in',
      summary: 'Revoke all trusted devices',
      answer: answers.revokedAnswer,
    },
    revokePosted: {
      route: 'POST /devices/revoke',
      access: 'signed-in',
      summary: 'Revoke one trusted device, by a form',
      body: bodies.revokeBody,
      answer: answers.revokedAnswer,
      problems: ['unknown_device'],
    },
    revokeAllPosted: {
      route: 'POST /devices/revoke-all',
      access: 'signed-in',
      summary: 'Revoke all trusted devices, by a form',
      answer: answers.revokedAnswer,
    },
    revokeDevice: {
      route: 'DELETE /devices/:device',
      access: 'signed-in',
      summary: 'Revoke one trusted device',
      parameter: bodies.revokeBody,
      answer: answers.revokedAnswer,
      problems: ['unknown_device'],
    },
  },
  notMeRouter: {
    notMe: {
      route: 'GET /not-me',
      access: 'public',
      summary: 'Ask whether a "this wasn\'t me" link is valid',
      description: 'Changes nothing. Requires no sign-in.',
      parameter: bodies.linkBody,
      answer: answers.notMeAnswer,
      problems: ['unknown_link'],
    },
    secure: {
      route: 'POST /not-me',
      access: 'public',
      summary:
        'End all sessions, pending logins and trusted devices of the account whose notice had the link',
      description: 'Requires no sign-in. The link is valid once.',
      body: bodies.linkBody,
      answer: answers.notMeAnswer,
      problems: ['unknown_link'],
    },
  },
  recoveryRouter: {
    recovery: {
      route: 'GET /recover',
      summary: 'Get the pending recovery',
      description: 'Exists only with the option `recovery`.',
      answer: answers.recoveryAnswer,
      problems: ['mfa_required', 'enrollment_required'],
    },
    requestRecovery: {
      route: 'POST /recover',
      summary: 'Request a recovery',
      description:
        'Requires a factor of the last five minutes. Every contact of the account is notified. Returns the pending recovery if there is one.',
      answer: answers.recoveryAnswer,
      problems: [...BY_STRONGEST, 'recovery_not_needed', 'recovery_not_notified', 'too_many_messages'],
    },
    cancelRecovery: {
      route: 'POST /recover/cancel',
      summary: 'Cancel the pending recovery',
      answer: answers.recoveryCancelAnswer,
      problems: ['mfa_required', 'enrollment_required', 'no_recovery'],
    },
    completeRecovery: {
      route: 'POST /recover/complete',
      summary: 'Complete the recovery after the waiting period',
      description:
        'Ends the strongest factors, all sessions and all trusted devices. The session goes on as a pending login that sets up an authenticator app.',
      completesLogin: true,
      answer: answers.recoveredAnswer,
      problems: [...BY_STRONGEST, 'no_recovery', 'recovery_waiting', 'recovery_not_needed'],
    },
    cancelRecoveryPage: {
      route: 'GET /cancel-recovery',
      access: 'public',
      summary: 'Check the link in a notice of a recovery',
      description: 'Requires no sign-in, and changes nothing.',
      parameter: bodies.linkBody,
      answer: answers.recoveryCancelAnswer,
      problems: ['unknown_link'],
    },
    cancelRecoveryByLink: {
      route: 'POST /cancel-recovery',
      access: 'public',
      summary: 'Cancel a recovery by the link in a notice',
      description: 'Requires no sign-in.',
      body: bodies.linkBody,
      answer: answers.recoveryCancelAnswer,
      problems: ['unknown_link'],
    },
  },
  languageRouter: {
    chooseLanguage: {
      route: 'POST /language',
      access: 'public',
      summary: 'Choose the language of pages and messages',
      description: 'Requires no sign-in. Exists only with the option `languages`.',
      body: bodies.languageBody,
      answer: answers.chosenAnswer,
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, RouteRow>>>>

type Parts = typeof PARTS

/** A router of `createMfa` with routes. */
export type Part = keyof Parts

/** The name of an operation. */
export type RouteName = { [Each in Part]: keyof Parts[Each] }[Part]

/** The operations of a router. */
export type RouteNameOf<Name extends Part> = keyof Parts[Name] & RouteName

/** The row of an operation. */
export type RowOf<Name extends RouteName> = {
  [Each in Part]: Name extends keyof Parts[Each] ? Parts[Each][Name] : never
}[Part]

/** The fields of a request to an operation. */
export type BodyOf<Name extends RouteName> =
  RowOf<Name> extends { readonly body: infer Body extends z.ZodType } ? z.output<Body> : object

/** The JSON of a success. */
export type AnswerOf<Name extends RouteName> =
  RowOf<Name> extends { readonly answer: infer Answer extends z.ZodType }
    ? Frozen<z.output<Answer>> & object
    : never

/** A row with its name, and its method and path on their own. */
export interface Operation extends RouteRow {
  readonly name: RouteName
  readonly method: Method
  readonly path: string
}

/** The operations of some routers, in the order of the table. */
export function listRoutes(parts = Object.keys(PARTS) as readonly Part[]): readonly Operation[] {
  return parts.flatMap((part) =>
    Object.entries<RouteRow>(PARTS[part]).map(([name, row]) => {
      const [method, path] = row.route.split(' ') as [Method, string]
      return { ...row, name: name as RouteName, method, path }
    }),
  )
}

/** Every operation by its name. */
export const ROUTES = Object.fromEntries(
  listRoutes().map((operation) => [operation.name, operation]),
) as Readonly<Record<RouteName, Operation>>

/** The path of an operation, below `urls.path`. */
export function getRoutePath<Name extends RouteName>(name: Name): PathOf<Name> {
  return ROUTES[name].path as PathOf<Name>
}

type PathOf<Name extends RouteName> =
  RowOf<Name> extends { readonly route: `${Method} ${infer Path}` } ? Path : never

/** The method and the path by which an operation is requested where the routes are mounted. A parameter in the path is `x`. */
export function getRouteAddress(mount: string, name: RouteName): Pick<Operation, 'method' | 'path'> {
  const { method, path } = ROUTES[name]
  return { method, path: path === '/' ? mount : mount + path.replace(/:\w+/, 'x') }
}

/** The JSON of a success, also to a client with tokens whose login it completes. */
export function getAnswer({ answer, completesLogin }: RouteRow): z.ZodType | undefined {
  if (!answer || !completesLogin) return answer
  const own = answer instanceof z.ZodUnion ? answer.options : [answer]
  return z.union([...own, answers.issuedAnswer])
}

/** Every problem that an operation can have. */
export function listProblems({ method, access = 'pending', answer, problems = [] }: Operation) {
  const ofPage: Codes = answer ? [] : ['not_found']
  return new Set([...EVERYWHERE, ...OF_METHOD[method], ...OF_ACCESS[access], ...ofPage, ...problems])
}
