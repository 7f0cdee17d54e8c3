import * as z from 'zod'
import { METHODS } from '../protocol/methods.js'
import { STRENGTHS } from '../protocol/strength.js'
import {
  codeField,
  deviceField,
  factorField,
  languageField,
  linkTokenField,
  pageField,
  trustField,
} from './body.js'

/*
 * The JSON of the routes: what they read, and what they answer. The handlers are typed by these schemas, and
 * `docs/openapi.json` is made of them.
 */

const described = (description: string) => ({ description })
const time = z.iso.datetime().meta(described('A point in time, in UTC.'))
const path = z.string().meta(described('Where to go on: a path on this site.'))
const to = z.string().meta({ description: 'The masked contact.', examples: ['••• 02'] })
const factorName = z.string().meta({ description: "The factor's id, or `backup`.", examples: ['sms'] })
const delivery = z
  .enum(['sent', 'queued', 'none'])
  .meta(described('Handed to the carrier, waiting for it, or nothing to deliver.'))

/** `POST /challenge` */
export const challengeBody = z.object({
  factor: factorField.meta({ description: "A factor's id or method, or `backup`.", examples: ['sms'] }),
})

/** `POST /verify` */
export const verifyBody = z.object({
  code: codeField.meta({
    description: 'As it was typed: spaces and dashes are fine.',
    examples: ['123 456'],
  }),
  factor: factorField
    .optional()
    .meta(described("A factor's id or method, or `backup`. Defaults to the one that was challenged.")),
  trust: trustField.optional().meta(described('Whether to trust this browser, where the app offers it.')),
})

/** `POST /enroll-app/confirm` */
export const confirmBody = z.object({ code: codeField.meta(described('What the new app shows.')) })

/** `POST /devices/revoke` */
export const revokeBody = z.object({ device: deviceField.meta(described("The device's id.")) })

/** `POST /not-me` */
export const notMeBody = z.object({ token: linkTokenField.meta(described('From the link.')) })

/** `POST /language` */
export const languageBody = z.object({
  language: languageField.meta({ description: 'One of those that are offered.', examples: ['de'] }),
  back: pageField.optional().meta(described('The page of ours to go back to.')),
})

/** A way to confirm, as answers list it. */
export const factorAnswer = z.object({
  id: z.string(),
  method: z.enum(METHODS),
  to,
  strength: z
    .enum(STRENGTHS)
    .meta(described('What it is worth: email is `weak`, an authenticator app `strong`, the rest `medium`.')),
  label: z
    .string()
    .optional()
    .meta({ description: 'What the user calls it, if the app says.', examples: ['Work phone'] }),
})

const challengeState = z.object({
  factor: factorName,
  to,
  delivery: z
    .enum([...delivery.options, 'refused'])
    .meta(
      described(
        'As of the challenge; `refused` when the service says by now that it could not be delivered.',
      ),
    ),
  expiresAt: time,
  resendAt: time.optional().meta(described('When the code may be asked for again.')),
})
const factors = z.array(factorAnswer)
const challenge = challengeState.optional().meta(described('The code that is under way.'))

/** `GET /`: where somebody stands. */
export const mfaState = z.discriminatedUnion('status', [
  z
    .object({ status: z.literal('none'), factors, challenge })
    .meta(described('Nobody is signed in, or somebody who is not asked for a second factor.')),
  z
    .object({ status: z.literal('pending'), factors, expiresAt: time, challenge })
    .meta(described('The second factor is missing; the half-login ends at `expiresAt`.')),
  z
    .object({ status: z.literal('verified'), factors, challenge })
    .meta(described('Both factors were shown in this session.')),
])

/** Where somebody stands, as `GET /mfa` answers it: tell the cases apart by `status`. */
export type MfaState = z.output<typeof mfaState>

/** 200 of `POST /challenge` */
export const challengedAnswer = z.object({
  status: z.literal('challenged'),
  factor: factorName,
  to: to.optional(),
  delivery,
  expiresAt: time,
  resendAt: time.optional().meta(described('When the code may be asked for again.')),
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
        'After a backup code: how many are left, if the service tells. With three or fewer it is time for new ones.',
      ),
    ),
})

/** 200 of `POST /cancel` */
export const cancelledAnswer = z.object({ status: z.literal('cancelled'), next: path })

/** 200 of `POST /enroll-app` */
export const preparedAnswer = z.object({
  qr: z.string().meta(described('A picture as a `data:` address. Shown once.')),
  uri: z
    .string()
    .optional()
    .meta(described('The `otpauth://` address in the picture, if the service gives it.')),
  secret: z.string().optional().meta(described('The key for typing, if the service gives it.')),
})

/** 200 of `POST /enroll-app/confirm` */
export const enrolledAnswer = z.object({ status: z.literal('enrolled') })

/** 200 of `POST /backup` */
export const backupSentAnswer = z.object({
  status: z.literal('sent'),
  to,
  count: z.int().optional().meta(described('How many codes were made, if the service tells.')),
})

/** 200 of `GET /devices` */
export const devicesAnswer = z.object({
  devices: z.array(
    z.object({
      id: z.string(),
      name: z.string().meta({ description: 'Browser and system.', examples: ['Firefox on Linux'] }),
      location: z.string().optional(),
      current: z.boolean().meta(described('Whether it is the browser that asks.')),
      createdAt: time,
      lastUsedAt: time,
      expiresAt: time,
    }),
  ),
})

/** 200 of `DELETE /devices` and its like */
export const revokedAnswer = z.object({ status: z.literal('revoked'), count: z.int() })

/** 200 of `GET /not-me` and `POST /not-me` */
export const notMeAnswer = z.object({
  status: z.enum(['open', 'secured']).meta(described('The link can be used; everything was ended.')),
})

/** 200 of `POST /language` */
export const chosenAnswer = z.object({
  status: z.literal('chosen'),
  language: z.string().meta(described('The language of pages and messages from now on.')),
  next: path,
})

/** Every answer that is not a success (RFC 9457). */
export const problemAnswer = z.object({
  type: z.string().meta(described('Where the code is explained, or a URN that names it.')),
  title: z.string(),
  status: z.int(),
  code: z.string().meta(described('Stable; programs decide by it.')),
  retryAfterSeconds: z
    .int()
    .optional()
    .meta(described('When asking again makes sense; also in `Retry-After`.')),
  attemptsLeft: z.int().optional().meta(described('Wrong codes that this challenge still takes.')),
  clockSteps: z
    .int()
    .optional()
    .meta(
      described('The app made the code so many steps of 30 s ago (negative): its clock seems to be slow.'),
    ),
  next: path.optional(),
  factors: z.array(factorAnswer).optional().meta(described('The ways that remain.')),
  backup: z.boolean().optional().meta(described('Whether a backup code may be typed instead.')),
  errors: z
    .array(z.object({ field: z.string(), detail: z.string() }))
    .optional()
    .meta(described('What is wrong with each field.')),
})
