import * as z from 'zod'
import { BINDINGS, MAX_DETAIL_LINES } from '../../protocol/details.js'
import { STRENGTHS } from '../../protocol/factor.js'
import { KEY_FAULTS, KEY_MEDIATIONS } from '../../protocol/keys.js'
import { authenticationField, registrationField } from '../../protocol/keys-wire.js'
import { KEY_METHODS, METHODS } from '../../protocol/methods.js'
import {
  approvalField,
  codeField,
  deviceField,
  factorField,
  keyField,
  keyMethodField,
  keyNameField,
  languageField,
  linkTokenField,
  pageField,
  requireOneProof,
  trustField,
} from './body.js'

/*
 * The JSON of the routes: request bodies and responses. The handlers get their types from these schemas, and
 * `docs/openapi.json` is generated from them.
 */

const described = (description: string) => ({ description })
const time = z.iso.datetime().meta(described('A point in time, in UTC.'))
const path = z.string().meta(described('Where to continue: a path on this site.'))
const to = z.string().meta({ description: 'The masked contact.', examples: ['••• 02'] })
const factorName = z.string().meta({ description: "The factor's id, or `backup`.", examples: ['sms'] })
const delivery = z
  .enum(['sent', 'queued', 'none'])
  .meta(
    described(
      '`sent`: the carrier has the message. `queued`: it waits for the carrier. `none`: nothing is sent.',
    ),
  )

const approvalId = approvalField
  .optional()
  .meta(described('The id of what the user is asked to approve, with which `step_up_required` came.'))

/** `POST /challenge` */
export const challengeBody = z.object({
  approval: approvalId,
  factor: factorField.meta({ description: "A factor's id or method, or `backup`.", examples: ['sms'] }),
})

const proof = z.object({
  code: codeField.optional().meta({
    description: 'The code as the user typed it. Spaces and dashes are ignored. Absent beside `response`.',
    examples: ['123 456'],
  }),
  response: authenticationField
    .optional()
    .meta(
      described(
        'For a security key or passkey: the assertion, as its `toJSON` writes it. In a form, its JSON.',
      ),
    ),
  factor: factorField
    .optional()
    .meta(described("A factor's id or method, or `backup`. Defaults to the factor of the live challenge.")),
  trust: trustField.optional().meta(described('Whether to trust this browser, if the app offers that.')),
  approval: approvalId,
})

/** `POST /verify` */
export const verifyBody = proof.superRefine(requireOneProof)

/** A login route of the host: the same, or nothing of it yet. A form sends the fields that are left empty, too. */
export const loginBody = z.preprocess(
  (body) =>
    Object.fromEntries(Object.entries(Object(body)).filter(([, value]) => value !== null && value !== '')),
  proof,
)

/** `POST /keys/options` */
export const keyOptionsBody = z
  .object({
    method: keyMethodField.meta(
      described('What the key is for: possession alone, or also user verification.'),
    ),
    mediation: z
      .enum(KEY_MEDIATIONS, { error: `must be ${KEY_MEDIATIONS.join(' or ')}` })
      .optional()
      .meta(
        described(
          'For a passkey that the browser creates without a prompt, once after a sign-in that offers a passkey. It proves nothing in this session.',
        ),
      ),
  })
  .refine(({ method, mediation }) => mediation === undefined || method === 'passkey', {
    path: ['mediation'],
    error: 'can be given for the method passkey only',
  })

/** `POST /keys` */
export const addKeyBody = z.object({
  method: keyMethodField.meta(described('The method of the options.')),
  response: registrationField.meta(
    described('The new credential, as its `toJSON` writes it. In a form, its JSON.'),
  ),
  name: keyNameField
    .optional()
    .meta(described("The user's name for the key. Defaults to the name of the authenticator.")),
})

/** `POST /keys/rename` */
export const renameKeyBody = z.object({
  key: keyField.meta(described("The key's id.")),
  name: keyNameField.meta(described('The new name.')),
})

/** `POST /keys/remove` */
export const removeKeyBody = z.object({ key: keyField.meta(described("The key's id.")) })

/** `POST /enroll-app/confirm` */
export const confirmBody = z.object({ code: codeField.meta(described('The code that the new app shows.')) })

/** `POST /devices/revoke` */
export const revokeBody = z.object({ device: deviceField.meta(described("The device's id.")) })

/** `POST /not-me` and `POST /cancel-recovery` */
export const linkBody = z.object({ token: linkTokenField.meta(described('The token in the link.')) })

/** `POST /language` */
export const languageBody = z.object({
  language: languageField.meta({ description: 'One of the offered languages.', examples: ['de'] }),
  back: pageField.optional().meta(described('The MFA page to return to.')),
})

/** A factor, as responses list it. */
export const factorAnswer = z.object({
  id: z.string(),
  method: z.enum(METHODS),
  to,
  strength: z
    .enum(STRENGTHS)
    .meta(
      described(
        'How hard the factor is to take over: email and dual `weak`, an authenticator app `strong`, security keys and passkeys `phishing-resistant`, others `medium`.',
      ),
    ),
  label: z
    .string()
    .optional()
    .meta({ description: "The user's name for the factor, if the app knows it.", examples: ['Work phone'] }),
})

const challengeState = z.object({
  factor: factorName,
  to,
  delivery: z
    .enum([...delivery.options, 'delivered', 'refused'])
    .meta(
      described(
        'The delivery state of the message; `delivered` or `refused` if the service says by now that it arrived, or cannot be delivered.',
      ),
    ),
  expiresAt: time,
  resendAt: time.optional().meta(described('When the code can be sent again.')),
})
const factors = z.array(factorAnswer)
const withheld = z
  .array(z.enum(METHODS))
  .optional()
  .meta(
    described(
      'The methods of factors that the account has and that cannot be used now. Absent if there are none. An account with such factors only is not signed in: see `factors_withheld`.',
    ),
  )
const challenge = challengeState.optional().meta(described('The live challenge.'))
const retryAfterSeconds = z
  .int()
  .optional()
  .meta(described('When the lock of the account ends. Absent if it is not locked.'))

const details = z.looseObject({ type: z.string() }).meta({
  description: 'What is approved, as in RFC 9396.',
  examples: [{ type: 'POST /pay', amount: '250.00', to: 'DE89370400440532013000' }],
})
const binding = z
  .enum(BINDINGS)
  .meta(
    described(
      '`entered`: the code of an app, or a backup code. `shown`: the message with the code names what is approved. `signed`: a key signs it.',
    ),
  )
const askedApproval = z.object({
  id: z.string(),
  authorization_details: details,
  lines: z
    .array(z.object({ label: z.string(), value: z.string() }))
    .max(MAX_DETAIL_LINES)
    .meta(described('Show this to the user.')),
  expiresAt: time,
})

const asked = askedApproval.optional().meta(described('What the user is asked to approve.'))

/** `GET /`: the MFA status. */
export const mfaState = z.discriminatedUnion('status', [
  z
    .object({ status: z.literal('none'), factors, withheld, challenge, approval: asked, retryAfterSeconds })
    .meta(described('No user is signed in, or the user signed in without a second factor.')),
  z
    .object({
      status: z.literal('pending'),
      factors,
      withheld,
      bypass: z
        .literal(true)
        .optional()
        .meta(
          described('Staff reset the account: only their bypass code is accepted, as `factor: "bypass"`.'),
        ),
      enroll: z.string().optional().meta(described('The login waits for a new factor; its page.')),
      minStrength: z
        .enum(STRENGTHS)
        .optional()
        .meta(
          described(
            'The least strength of the factor that completes this login. If no factor of the account has it, a listed one leads to setting one up, and to nothing else. Absent if every factor will do.',
          ),
        ),
      expiresAt: time,
      challenge,
      retryAfterSeconds,
    })
    .meta(described('The second factor is missing; the pending login ends at `expiresAt`.')),
  z
    .object({
      status: z.literal('verified'),
      factors: z.array(
        factorAnswer.extend({
          lastUsedAt: time
            .optional()
            .meta(
              described(
                'When a code of it was last accepted, if the service says. Not while a challenge is live.',
              ),
            ),
        }),
      ),
      withheld,
      backupCodes: z
        .object({ left: z.int(), lastUsedAt: time.optional() })
        .optional()
        .meta(
          described(
            'How many backup codes the account has, and when one was last accepted, if the service says. Not while a challenge is live.',
          ),
        ),
      challenge,
      approval: asked,
      retryAfterSeconds,
    })
    .meta(described('Both factors were shown in this session.')),
])

/** The MFA status as `GET /mfa` returns it: a union on `status`. */
export type MfaState = z.output<typeof mfaState>

/** 200 of `POST /challenge` */
export const challengedAnswer = z.object({
  status: z.literal('challenged'),
  factor: factorName,
  to: to.optional(),
  delivery,
  expiresAt: time,
  resendAt: time.optional().meta(described('When the code can be sent again.')),
  publicKey: z
    .looseObject({ challenge: z.string() })
    .optional()
    .meta(described('For a security key or passkey: pass it to `parseRequestOptionsFromJSON`.')),
})

/** 200 of `POST /verify` if the factor does not complete the login */
export const goesOnAnswer = z.object({
  status: z
    .enum(['enrollment_required', 'recovery_allowed'])
    .meta(
      described(
        'The code was correct, and the session stays pending. `enrollment_required`: until a new factor is set up. `recovery_allowed`: it is too weak to sign in, and is enough to request or complete a recovery.',
      ),
    ),
  next: path,
})

/** 200 of `POST /verify` */
export const verifiedAnswer = z.object({
  status: z.literal('verified'),
  next: path,
  trusted: z.boolean().optional().meta(described('Whether this browser is trusted from now on.')),
  backupCodesLeft: z
    .int()
    .optional()
    .meta(
      described(
        'After a backup code: how many are left, if the service says. With three or fewer, the user should get new ones.',
      ),
    ),
})

/** 200 of `POST /verify` if the user approved a request */
export const approvedAnswer = z.object({
  status: z.literal('approved').meta(described('Send the request again, unchanged, within five minutes.')),
  next: path,
  approval: z.object({
    id: z.string(),
    authorization_details: details,
    digest: z.string().meta(described('SHA-256 of everything that the approval is bound to, in base64url.')),
    binding,
    method: z.enum([...METHODS, 'backup']),
    amr: z.array(z.string()),
    approvedAt: z.int().meta(described('In milliseconds since 1970.')),
  }),
  backupCodesLeft: z.int().optional(),
})

/** `POST /cancel` */
export const cancelBody = z.object({ approval: approvalId })

/** 200 of `POST /cancel` */
export const canceledAnswer = z.object({ status: z.literal('canceled'), next: path })

const listedKey = z.object({
  id: z.string(),
  method: z.enum(KEY_METHODS),
  name: z.string(),
  synced: z
    .boolean()
    .meta(described('Whether it can be synced to other devices. Otherwise it exists on one device only.')),
  createdAt: time,
  lastUsedAt: time.optional(),
})

/** 200 of `GET /keys` */
export const keysAnswer = z.object({
  keys: z.array(listedKey),
  relyingPartyId: z.string().meta(described("The relying party's id, for the Signal API.")),
  userHandle: z
    .string()
    .optional()
    .meta(described("The account's id that its keys store, once there is one, for the Signal API.")),
})

/** 200 of `POST /keys/options` */
export const keyOptionsAnswer = z.object({
  publicKey: z
    .looseObject({ challenge: z.string() })
    .meta(described('Pass it to `parseCreationOptionsFromJSON`.')),
})

/** 200 of `POST /keys` */
export const keyAddedAnswer = z.object({ status: z.literal('added'), key: listedKey })

/** 200 of `POST /keys/rename` */
export const keyRenamedAnswer = z.object({ status: z.literal('renamed') })

/** 200 of `POST /enroll-app` */
export const preparedAnswer = z.object({
  qr: z.string().meta(described('The QR code, an image as a `data:` URL. Shown once.')),
  uri: z
    .string()
    .optional()
    .meta(described('The `otpauth://` URI in the QR code, if the service returns it.')),
  secret: z.string().optional().meta(described('The key for typing, if the service returns it.')),
})

/** 200 of `POST /enroll-app/confirm` */
export const enrolledAnswer = z.object({ status: z.literal('enrolled') })

/** 200 of `POST /backup` */
export const backupSentAnswer = z.object({
  status: z.literal('sent'),
  to,
  strength: z
    .enum(STRENGTHS)
    .meta(
      described(
        'What the codes are worth to `requireMfa`: `weak` if a mailbox received them, `medium` if only a phone did.',
      ),
    ),
  count: z.int().optional().meta(described('How many codes were sent, if the service says.')),
})

/** 200 of `POST /backup/codes` */
export const backupCreatedAnswer = z.object({
  status: z.literal('created'),
  codes: z.array(z.string()).meta({
    description: 'The codes. They are not returned again: show them once, and do not store them.',
    examples: [['4T7K-9XQM-2HVD-W3RP', 'B8N2-J6YC-5RKA-0GTF']],
  }),
  count: z.int(),
  strength: z
    .enum(STRENGTHS)
    .meta(described('What the codes are worth to `requireMfa`: `medium`, since no contact received them.')),
})

/** 200 of `POST /backup/saved` */
export const backupSavedAnswer = z.object({ status: z.literal('saved'), next: path })

/** 200 of `POST /enroll-app/remove`, `POST /keys/remove` and `POST /backup/remove` */
export const removedAnswer = z.object({ status: z.literal('removed') })

/** 200 of `GET /devices` */
export const devicesAnswer = z.object({
  devices: z.array(
    z.object({
      id: z.string(),
      name: z.string().meta({ description: 'Browser and operating system.', examples: ['Firefox on Linux'] }),
      location: z.string().optional(),
      current: z.boolean().meta(described('Whether this is the browser of the request.')),
      createdAt: time,
      lastUsedAt: time,
      expiresAt: time,
    }),
  ),
})

/** 200 of the routes that revoke devices */
export const revokedAnswer = z.object({ status: z.literal('revoked'), count: z.int() })

/** 200 of `GET /not-me` and `POST /not-me` */
export const notMeAnswer = z.object({
  status: z
    .enum(['open', 'secured'])
    .meta(described('`open`: the link is valid. `secured`: all sessions and trusted devices were ended.')),
})

/** 200 of `GET /recover` and `POST /recover` */
export const recoveryAnswer = z.object({
  status: z
    .enum(['none', 'waiting', 'ready'])
    .meta(described('`none`: no recovery is pending. `waiting`: it is. `ready`: it can be completed.')),
  readyAt: time.optional().meta(described('When the recovery can be completed.')),
  expiresAt: time.optional().meta(described('When a recovery ends that is not completed.')),
  unreached: z
    .array(to)
    .optional()
    .meta(
      described('The masked contacts that could not be notified. The recovery waits twice as long then.'),
    ),
})

/** 200 of `POST /recover/complete` */
export const recoveredAnswer = z.object({
  status: z.literal('completed').meta(described('The user has to set up a new factor now.')),
  next: path,
})

/** 200 of `POST /recover/cancel`, `GET /cancel-recovery` and `POST /cancel-recovery` */
export const recoveryCancelAnswer = z.object({
  status: z
    .enum(['open', 'canceled'])
    .meta(described('`open`: the link is valid. `canceled`: the recovery was canceled.')),
})

/** 200 of `POST /language` */
export const chosenAnswer = z.object({
  status: z.literal('chosen'),
  language: z.string().meta(described('The language of pages and messages from now on.')),
  next: path,
})

/** Every response that is not a success (RFC 9457). */
export const problemAnswer = z.object({
  type: z.string().meta(described('The address where the code is explained, or a URN.')),
  title: z.string(),
  status: z.int(),
  code: z.string().meta(described('A stable code for programs.')),
  retryAfterSeconds: z.int().optional().meta(described('When to try again; also in `Retry-After`.')),
  attemptsLeft: z.int().optional().meta(described('The attempts that are left in this challenge.')),
  clockSteps: z
    .int()
    .optional()
    .meta(
      described(
        'The age of the code in steps of 30 s, as a negative number: the clock of the authenticator app is slow.',
      ),
    ),
  fault: z
    .enum(KEY_FAULTS)
    .optional()
    .meta(described('Why the response of a security key or passkey was not accepted.')),
  next: path.optional(),
  factors: z.array(factorAnswer).optional().meta(described('The factors that can be used.')),
  approval: askedApproval
    .extend({ atLeast: binding })
    .optional()
    .meta(
      described(
        'With `step_up_required`: the factor confirms exactly this request. Send the `id` with `challenge` and `verify`, as `approval`.',
      ),
    ),
  backup: z
    .boolean()
    .optional()
    .meta(
      described(
        'Whether a backup code is accepted instead. It is as strong as the contact that received it: `weak` for a mailbox, `medium` for a phone. One that was shown on a page is `medium`.',
      ),
    ),
  recover: path
    .optional()
    .meta(
      described(
        'With `factors_withheld`: where the user requests a recovery, if the app offers one and it is possible.',
      ),
    ),
  help: z
    .string()
    .optional()
    .meta(described("With `factors_withheld`: the app's words on what the user can do.")),
  errors: z
    .array(z.object({ field: z.string(), detail: z.string() }))
    .optional()
    .meta(described('What is wrong with each field of the request.')),
})
