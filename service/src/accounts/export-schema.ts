import * as z from 'zod'

const time = z.iso.datetime()
const timeOrNull = time.nullable()
const textOrNull = z.string().nullable()

/** Everything that is stored about an account, without secrets and codes. Times are ISO 8601 in UTC. */
export const accountExport = z.object({
  application: z.string().describe('The name of the application; data of test keys ends in `/test`.'),
  account: textOrNull.describe(
    "The application's own name for the account; `null` if it is known by its contact.",
  ),
  user: textOrNull.describe('The contact by which the account is known; `null` if it has a name.'),
  reference: z.string().describe('The keyed hash that stands for the account in the log and the audit log.'),
  exported_at: time,
  proven_email: textOrNull,
  proven_phone: textOrNull,
  language: textOrNull,
  locked_until: timeOrNull.describe('The end of the latest lock; `null` if there was none.'),
  locks: z.number().int().describe('How many locks followed each other.'),
  wrong_codes: z
    .array(z.object({ at: time, factor: z.string(), scope: textOrNull }))
    .describe('Unforgiven wrong codes of the last day, and the challenge or transaction of each.'),
  factors: z
    .array(z.object({ factor: z.string(), wrong_codes: z.number().int() }))
    .describe('Factors with the number of unforgiven wrong codes since each was bound.'),
  last_used: z
    .array(z.object({ factor: z.string(), at: time }))
    .describe('When each factor was last used, to the hour.'),
  authenticator_app: z
    .object({
      bound_at: timeOrNull,
      last_code_of: timeOrNull.describe('The time for which the latest accepted code was made.'),
      pending_since: timeOrNull.describe('When a secret was made that awaits its first code.'),
    })
    .nullable(),
  backup_codes: z
    .object({
      contact: textOrNull,
      made_at: timeOrNull,
      left: z.number().int(),
      waiting_contact: textOrNull.describe('Where codes were sent that are not active yet.'),
      waiting_since: timeOrNull,
    })
    .nullable(),
  keys: z
    .array(
      z.object({
        id: z.string(),
        method: z.string(),
        name: z.string(),
        authenticator: z.string().describe('The id of its model (AAGUID).'),
        counter: z.number().int(),
        backup_eligible: z.boolean(),
        backed_up: z.boolean(),
        transports: z.array(z.string()),
        created_at: time,
        last_used_at: timeOrNull,
      }),
    )
    .describe('Security keys and passkeys, without their public keys.'),
  key_user_handle: textOrNull.describe('The random id of the account that its keys store.'),
  key_challenges: z
    .array(z.object({ method: z.string(), purpose: z.string(), transaction: z.string(), expires_at: time }))
    .describe('Challenges that await the response of a key.'),
  challenges: z.array(
    z.object({
      contact: z.string(),
      type: z.string(),
      method: z.string(),
      purpose: z.string(),
      transaction: z.string(),
      attempts: z.number().int(),
      sends: z.number().int(),
      created_at: time,
      expires_at: time,
      ended_at: timeOrNull,
    }),
  ),
  messages: z.array(
    z.object({
      id: z.string(),
      channel: z.string(),
      to: z.string().describe('Masked.'),
      status: z.string(),
      attempts: z.number().int(),
      carrier: textOrNull,
      carrier_id: textOrNull,
      fault: textOrNull,
      created_at: time,
      settled_at: timeOrNull,
    }),
  ),
  events: z
    .array(z.object({ id: z.string(), type: z.string(), endpoint: z.string(), at: time, status: z.string() }))
    .describe('Events about the account that were, or are to be, posted to endpoints of the application.'),
  approvals: z
    .array(z.object({ action: z.string(), at: time }))
    .describe('Changes to the account that an operator asked for and that wait for the consent of another.'),
  spam_complaints: z
    .array(z.object({ email: z.string(), at: time }))
    .describe('Mailboxes from which a mail of the application was reported as spam.'),
  budgets: z
    .array(z.object({ counts: z.enum(['account', 'destination']), key: z.string(), sent_at: z.array(time) }))
    .describe('The messages that count against the budgets of the account and of its contacts.'),
})

/** The stored data about an account. */
export type AccountExport = z.output<typeof accountExport>
