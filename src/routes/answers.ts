import * as z from 'zod'
import { BINDINGS } from '../protocol/details.js'
import { STRENGTHS } from '../protocol/factor.js'
import { KEY_FAULTS } from '../protocol/keys.js'
import { KEY_METHODS, METHODS } from '../protocol/methods.js'
import { detailLines } from '../protocol/wire-parts.js'

/*
 * The responses of the routes. The handlers get their types from these schemas, and `docs/openapi.json` is generated from them.
 */

const time = z.iso.datetime().describe('A point in time, in UTC.')
const path = z.string().describe('Where to continue: a path on this site.')
const to = z.string().meta({ description: 'The masked contact.', examples: ['••• 02'] })
const factorName = z.string().meta({ description: "The factor's id, or `backup`.", examples: ['sms'] })
const delivery = z
  .enum(['sent', 'queued', 'none'])
  .describe(
    '`sent`: the carrier has the message. `queued`: it waits for the carrier. `none`: nothing is sent.',
  )

/** A factor, as responses list it. */
export const factorAnswer = z.object({
  id: z.string(),
  method: z.enum(METHODS),
  to,
  strength: z
    .enum(STRENGTHS)
    .describe(
      'How hard the factor is to take over: email and dual `weak`, an authenticator app `strong`, security keys and passkeys `phishing-resistant`, others `medium`.',
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
    .describe(
      'The delivery state of the message; `delivered` or `refused` if the service says by now that it arrived, or cannot be delivered.',
    ),
  expiresAt: time,
  resendAt: time.optional().describe('When the code can be sent again.'),
})
const factors = z.array(factorAnswer)
const withheld = z
  .array(z.enum(METHODS))
  .optional()
  .describe(
    'The methods of factors that the account has and that cannot be used now. Absent if there are none. An account with such factors only is not signed in: see `factors_withheld`.',
  )
const challenge = challengeState.optional().describe('The live challenge.')
const retryAfterSeconds = z
  .int()
  .optional()
  .describe('When the lock of the account ends. Absent if it is not locked.')

const details = z.looseObject({ type: z.string() }).meta({
  description: 'What is approved, as in RFC 9396.',
  examples: [{ type: 'POST /pay', amount: '250.00', to: 'DE89370400440532013000' }],
})
const binding = z.enum(BINDINGS).describe('Only `entered`, `shown` in the message, or `signed` by a key.')
const askedApproval = z.object({
  id: z.string(),
  authorization_details: details,
  lines: detailLines.describe('Show this to the user.'),
  expiresAt: time,
})

const asked = askedApproval.optional().describe('What the user is asked to approve.')

/** `GET /`: the MFA status. */
export const mfaState = z.discriminatedUnion('status', [
  z
    .object({ status: z.literal('none'), factors, withheld, challenge, approval: asked, retryAfterSeconds })
    .describe('No user is signed in, or the user signed in without a second factor.'),
  z
    .object({
      status: z.literal('pending'),
      factors,
      withheld,
      bypass: z
        .literal(true)
        .optional()
        .describe('Staff reset the account: only their bypass code is accepted, as `factor: "bypass"`.'),
      enroll: z.string().optional().describe('The login waits for a new factor; its page.'),
      minStrength: z
        .enum(STRENGTHS)
        .optional()
        .describe(
          'The least strength of the factor that completes this login. If no factor of the account has it, a listed one leads to setting one up, and to nothing else. Absent if every factor will do.',
        ),
      expiresAt: time,
      challenge,
      retryAfterSeconds,
    })
    .describe('The second factor is missing; the pending login ends at `expiresAt`.'),
  z
    .object({
      status: z.literal('verified'),
      factors: z.array(
        factorAnswer.extend({
          lastUsedAt: time
            .optional()
            .describe(
              'When a code of it was last accepted, if the service says. Not while a challenge is live.',
            ),
        }),
      ),
      withheld,
      backupCodes: z
        .object({ left: z.int(), lastUsedAt: time.optional() })
        .optional()
        .describe(
          'How many backup codes the account has, and when one was last accepted, if the service says. Not while a challenge is live.',
        ),
      challenge,
      approval: asked,
      retryAfterSeconds,
    })
    .describe('Both factors were shown in this session.'),
])

/** The MFA status as `GET /mfa` returns it: a union on `status`. */
export type MfaState = z.output<typeof mfaState>

/** The answer to a challenge. */
export const challengedAnswer = z.object({
  status: z.literal('challenged'),
  factor: factorName,
  to: to.optional(),
  delivery,
  expiresAt: time,
  resendAt: time.optional().describe('When the code can be sent again.'),
  publicKey: z
    .looseObject({ challenge: z.string() })
    .optional()
    .describe('For a security key or passkey: pass it to `parseRequestOptionsFromJSON`.'),
})

/** The members of an answer that a client with tokens needs where a session would get a new id. */
const nextLogin = {
  login: z
    .string()
    .optional()
    .describe('To a client with tokens: what to send as `MFA-Login` from now on. The one before is void.'),
  expiresAt: time.optional().describe('When `login` ends.'),
}

/** The answer where the user goes on to another page. */
export const goesOnAnswer = z.object({
  ...nextLogin,
  status: z
    .enum(['enrollment_required', 'recovery_allowed'])
    .describe(
      'The code was correct, and the session stays pending. `enrollment_required`: until a new factor is set up. `recovery_allowed`: it is too weak to sign in, and is enough to request or complete a recovery.',
    ),
  next: path,
})

/** The answer to a correct code or key. */
export const verifiedAnswer = z.object({
  status: z.literal('verified'),
  next: path,
  trusted: z.boolean().optional().describe('Whether this browser is trusted from now on.'),
  backupCodesLeft: z
    .int()
    .optional()
    .describe(
      'After a backup code: how many are left, if the service says. With three or fewer, the user should get new ones.',
    ),
})

/** 200 of a login or step-up with tokens, and beside `status`, of a new factor that completes it. */
export const issuedAnswer = z
  .looseObject({
    device: z
      .string()
      .optional()
      .describe('What the client keeps of a trusted device, and sends as `MFA-Device` when it signs in.'),
  })
  .describe('To a client with tokens: what the app issues.')

/** The answer to an approval. */
export const approvedAnswer = z.object({
  ...nextLogin,
  status: z.literal('approved').describe('Send the request again, unchanged, within five minutes.'),
  next: path,
  approval: z.object({
    id: z.string(),
    authorization_details: details,
    digest: z.string().describe('SHA-256 of everything that the approval is bound to, in base64url.'),
    binding,
    method: z.enum([...METHODS, 'backup']),
    amr: z.array(z.string()),
    approvedAt: z.int().describe('In milliseconds since 1970.'),
  }),
})

/** The answer to a canceled step-up. */
export const canceledAnswer = z.object({ status: z.literal('canceled'), next: path })

const listedKey = z.object({
  id: z.string(),
  method: z.enum(KEY_METHODS),
  name: z.string(),
  synced: z
    .boolean()
    .describe('Whether it can be synced to other devices. Otherwise it exists on one device only.'),
  createdAt: time,
  lastUsedAt: time.optional(),
})

/** The answer with the keys of the user. */
export const keysAnswer = z.object({
  keys: z.array(listedKey),
  relyingPartyId: z.string().describe("The relying party's id, for the Signal API."),
  userHandle: z
    .string()
    .optional()
    .describe("The account's id that its keys store, once there is one, for the Signal API."),
})

/** The answer with options for the browser. */
export const keyOptionsAnswer = z.object({
  publicKey: z.looseObject({ challenge: z.string() }).describe('Pass it to `parseCreationOptionsFromJSON`.'),
})

/** The answer after a key was added. */
export const keyAddedAnswer = z.object({ status: z.literal('added'), key: listedKey })

/** The answer after a key was renamed. */
export const keyRenamedAnswer = z.object({ status: z.literal('renamed') })

/** The answer with the secret of a new app. */
export const preparedAnswer = z.object({
  qr: z.string().describe('The QR code, an image as a `data:` URL. Shown once.'),
  uri: z.string().optional().describe('The `otpauth://` URI in the QR code, if the service returns it.'),
  secret: z.string().optional().describe('The key for typing, if the service returns it.'),
})

/** The answer after an app was set up. */
export const enrolledAnswer = z.object({ status: z.literal('enrolled') })

/** The answer after backup codes were sent. */
export const backupSentAnswer = z.object({
  status: z.literal('sent'),
  to,
  strength: z
    .enum(STRENGTHS)
    .describe(
      'What the codes are worth to `requireMfa`: `weak` if a mailbox received them, `medium` if only a phone did.',
    ),
  count: z.int().optional().describe('How many codes were sent, if the service says.'),
})

/** The answer with new backup codes. */
export const backupCreatedAnswer = z.object({
  status: z.literal('created'),
  codes: z.array(z.string()).meta({
    description: 'The codes. They are not returned again: show them once, and do not store them.',
    examples: [['4T7K-9XQM-2HVD-W3RP', 'B8N2-J6YC-5RKA-0GTF']],
  }),
  count: z.int(),
  strength: z
    .enum(STRENGTHS)
    .describe('What the codes are worth to `requireMfa`: `medium`, since no contact received them.'),
})

/** The answer after the user saved the backup codes. */
export const backupSavedAnswer = z.object({ status: z.literal('saved'), next: path })

/** 200 of `POST /enroll-app/remove`, `POST /keys/remove` and `POST /backup/remove` */
export const removedAnswer = z.object({ status: z.literal('removed') })

/** The answer with the trusted devices of the user. */
export const devicesAnswer = z.object({
  devices: z.array(
    z.object({
      id: z.string(),
      name: z.string().meta({ description: 'Browser and operating system.', examples: ['Firefox on Linux'] }),
      location: z.string().optional(),
      current: z.boolean().describe('Whether this is the browser of the request.'),
      createdAt: time,
      lastUsedAt: time,
      expiresAt: time,
    }),
  ),
})

/** The answer after trusted devices were revoked. */
export const revokedAnswer = z.object({ status: z.literal('revoked'), count: z.int() })

/** The answer after "This wasn't me". */
export const notMeAnswer = z.object({
  status: z
    .enum(['open', 'secured'])
    .describe('`open`: the link is valid. `secured`: all sessions and trusted devices were ended.'),
})

/** The answer with the state of a recovery. */
export const recoveryAnswer = z.object({
  status: z
    .enum(['none', 'waiting', 'ready'])
    .describe('`none`: no recovery is pending. `waiting`: it is. `ready`: it can be completed.'),
  readyAt: time.optional().describe('When the recovery can be completed.'),
  expiresAt: time.optional().describe('When a recovery ends that is not completed.'),
  unreached: z
    .array(to)
    .optional()
    .describe('The masked contacts that could not be notified. The recovery waits twice as long then.'),
})

/** The answer after a recovery was completed. */
export const recoveredAnswer = z.object({
  ...nextLogin,
  status: z.literal('completed').describe('The user has to set up a new factor now.'),
  next: path,
})

/** 200 of `POST /recover/cancel`, `GET /cancel-recovery` and `POST /cancel-recovery` */
export const recoveryCancelAnswer = z.object({
  status: z
    .enum(['open', 'canceled'])
    .describe('`open`: the link is valid. `canceled`: the recovery was canceled.'),
})

/** The answer after a language was chosen. */
export const chosenAnswer = z.object({
  status: z.literal('chosen'),
  language: z.string().describe('The language of pages and messages from now on.'),
  next: path,
})

/** Every response that is not a success (RFC 9457). */
export const problemAnswer = z.object({
  type: z.string().describe('The address where the code is explained, or a URN.'),
  title: z.string(),
  status: z.int(),
  code: z.string().describe('A stable code for programs.'),
  retryAfterSeconds: z.int().optional().describe('When to try again; also in `Retry-After`.'),
  attemptsLeft: z.int().optional().describe('The attempts that are left in this challenge.'),
  clockSteps: z
    .int()
    .optional()
    .describe(
      'The age of the code in steps of 30 s, as a negative number: the clock of the authenticator app is slow.',
    ),
  fault: z
    .enum(KEY_FAULTS)
    .optional()
    .describe('Why the response of a security key or passkey was not accepted.'),
  next: path.optional(),
  factors: z.array(factorAnswer).optional().describe('The factors that can be used.'),
  ...nextLogin,
  acrValues: z
    .array(z.string())
    .optional()
    .describe('To a client with tokens, with `step_up_required`: as `acr_values` in `WWW-Authenticate`.'),
  maxAgeSeconds: z.int().optional().describe('The same for `max_age`.'),
  approval: askedApproval
    .extend({ atLeast: binding })
    .optional()
    .describe('With `step_up_required`: send its `id` with `challenge` and `verify`, as `approval`.'),
  backup: z
    .boolean()
    .optional()
    .describe(
      'Whether a backup code is accepted instead. It is as strong as the contact that received it: `weak` for a mailbox, `medium` for a phone. One that was shown on a page is `medium`.',
    ),
  recover: path
    .optional()
    .describe(
      'With `factors_withheld`: where the user requests a recovery, if the app offers one and it is possible.',
    ),
  help: z.string().optional().describe("With `factors_withheld`: the app's words on what the user can do."),
  errors: z
    .array(z.object({ field: z.string(), detail: z.string() }))
    .optional()
    .describe('What is wrong with each field of the request.'),
})
