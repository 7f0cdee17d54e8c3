import * as z from 'zod'
import { KEY_MEDIATIONS } from '../protocol/keys.js'
import { authenticationField, isKeyName, NO_KEY_NAME, registrationField } from '../protocol/keys-wire.js'
import { KEY_METHODS, MAX_CODE_LENGTH } from '../protocol/methods.js'

/*
 * The request bodies of the routes, which the handlers and `docs/openapi.json` take from here.
 */

const createTextRule = (max: number) =>
  z.string({ error: 'must be a single string' }).max(max, { error: `must be at most ${max} characters` })
const name = (max: number) => createTextRule(max).min(1, { error: 'must not be empty' })

const codeField = name(MAX_CODE_LENGTH)
const factorField = name(32)
const keyField = name(1_364).describe("The key's id.")
const keyMethodField = z.enum(KEY_METHODS, { error: `must be one of ${KEY_METHODS.join(', ')}` })
const keyNameField = createTextRule(60)
  .trim()
  .min(1, { error: 'must not be empty' })
  .refine(isKeyName, { error: NO_KEY_NAME })

// A boolean in JSON, a checkbox in a form.
const trustField = z
  .union([z.boolean(), z.enum(['true', 'false', 'on'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 'true' || value === 'on')

const approvalId = name(64).optional().describe('The `approval.id` that came with `step_up_required`.')

/** The body that asks for a challenge. */
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
    .describe(
      'For a security key or passkey: the assertion, as its `toJSON` writes it. In a form, its JSON.',
    ),
  factor: factorField
    .optional()
    .describe("A factor's id or method, or `backup`. Defaults to the factor of the live challenge."),
  trust: trustField.optional().describe('Whether to trust this browser, if the app offers that.'),
  approval: approvalId,
})

/** `POST /verify`: either a code or the response of a key. */
export const verifyBody = proof.superRefine(({ code, response }, context) => {
  if (code === undefined && response === undefined) {
    context.addIssue({ code: 'custom', path: ['code'], message: 'must be a single string' })
  }
  if (code !== undefined && response !== undefined) {
    context.addIssue({ code: 'custom', path: ['response'], message: 'must be absent beside code' })
  }
})

/** A login route of the host: the same, or nothing of it yet. A form sends the fields that are left empty, too. */
export const loginBody = z.preprocess(
  (body) =>
    Object.fromEntries(Object.entries(Object(body)).filter(([, value]) => value !== null && value !== '')),
  proof,
)

/** The body that asks for options of a key. */
export const keyOptionsBody = z
  .object({
    method: keyMethodField.describe('What the key is for: possession alone, or also user verification.'),
    mediation: z
      .enum(KEY_MEDIATIONS, { error: `must be ${KEY_MEDIATIONS.join(' or ')}` })
      .optional()
      .describe(
        'For a passkey that the browser creates without a prompt, once after a sign-in that offers a passkey. It proves nothing in this session.',
      ),
  })
  .refine(({ method, mediation }) => mediation === undefined || method === 'passkey', {
    path: ['mediation'],
    error: 'can be given for the method passkey only',
  })

/** The size of the largest body with a new key, in bytes: its attestation may hold a chain of certificates. */
export const MAX_KEY_BODY_BYTES = 32 * 1024

/** The body that adds a key. */
export const addKeyBody = z.object({
  method: keyMethodField.describe('The method of the options.'),
  response: registrationField.describe('The new credential, as its `toJSON` writes it. In a form, its JSON.'),
  name: keyNameField
    .optional()
    .describe("The user's name for the key. Defaults to the name of the authenticator."),
})

/** The body that renames a key. */
export const renameKeyBody = z.object({
  key: keyField,
  name: keyNameField.describe('The new name.'),
})

/** The body that removes a key. */
export const removeKeyBody = z.object({ key: keyField })

/** The body that confirms a new app. */
export const confirmBody = z.object({ code: codeField.describe('The code that the new app shows.') })

/** The body that revokes a trusted device. */
export const revokeBody = z.object({ device: name(64).describe("The device's id.") })

/** The body with the token of a link. */
export const linkBody = z.object({ token: name(128).describe('The token in the link.') })

/** The body that chooses a language. */
export const languageBody = z.object({
  language: name(35).meta({ description: 'One of the offered languages.', examples: ['de'] }),
  back: createTextRule(2_000).optional().describe('The MFA page to return to.'),
})

/** The body that cancels an approval. */
export const cancelBody = z.object({ approval: approvalId })
