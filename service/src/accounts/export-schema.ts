import * as z from 'zod'

const time = z.iso.datetime()
const timeOrNull = time.nullable()
const contact = z.string().nullable()

/** Everything that is stored about an account, without secrets and codes. Times are ISO 8601 in UTC. */
export const accountExport = z.object({
  application: z
    .string()
    .meta({ description: 'The name of the application; data of test keys ends in `/test`.' }),
  account: z.string().nullable().meta({
    description: "The application's own name for the account; `null` if it is known by its contact.",
  }),
  user: contact.meta({ description: 'The contact by which the account is known; `null` if it has a name.' }),
  reference: z
    .string()
    .meta({ description: 'The keyed hash that stands for the account in the log and the audit log.' }),
  exported_at: time,
  proven_email: contact,
  proven_phone: contact,
  language: z.string().nullable(),
  locked_until: timeOrNull.meta({ description: 'The end of the latest lock; `null` if there was none.' }),
  locks: z.number().int().meta({ description: 'How many locks followed each other.' }),
  wrong_codes: z.array(z.object({ at: time, factor: z.string(), scope: z.string().nullable() })).meta({
    description: 'Unforgiven wrong codes of the last day, and the challenge or transaction of each.',
  }),
  factors: z
    .array(z.object({ factor: z.string(), wrong_codes: z.number().int() }))
    .meta({ description: 'Factors with the number of unforgiven wrong codes since each was bound.' }),
  last_used: z
    .array(z.object({ factor: z.string(), at: time }))
    .meta({ description: 'When each factor was last used, to the hour.' }),
  authenticator_app: z
    .object({
      bound_at: timeOrNull,
      last_code_of: timeOrNull.meta({ description: 'The time for which the latest accepted code was made.' }),
      pending_since: timeOrNull.meta({ description: 'When a secret was made that awaits its first code.' }),
    })
    .nullable(),
  backup_codes: z
    .object({
      contact,
      made_at: timeOrNull,
      left: z.number().int(),
      waiting_contact: contact.meta({ description: 'Where codes were sent that are not active yet.' }),
      waiting_since: timeOrNull,
    })
    .nullable(),
  keys: z
    .array(
      z.object({
        id: z.string(),
        method: z.string(),
        name: z.string(),
        authenticator: z.string().meta({ description: 'The id of its model (AAGUID).' }),
        counter: z.number().int(),
        backup_eligible: z.boolean(),
        backed_up: z.boolean(),
        transports: z.array(z.string()),
        created_at: time,
        last_used_at: timeOrNull,
      }),
    )
    .meta({ description: 'Security keys and passkeys, without their public keys.' }),
  key_user_handle: z
    .string()
    .nullable()
    .meta({ description: 'The random id of the account that its keys store.' }),
  key_challenges: z
    .array(z.object({ method: z.string(), purpose: z.string(), transaction: z.string(), expires_at: time }))
    .meta({ description: 'Challenges that await the response of a key.' }),
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
      to: z.string().meta({ description: 'Masked.' }),
      status: z.string(),
      attempts: z.number().int(),
      carrier: z.string().nullable(),
      carrier_id: z.string().nullable(),
      fault: z.string().nullable(),
      created_at: time,
      settled_at: timeOrNull,
    }),
  ),
  events: z
    .array(z.object({ id: z.string(), type: z.string(), endpoint: z.string(), at: time, status: z.string() }))
    .meta({
      description:
        'Events about the account that were, or are to be, posted to endpoints of the application.',
    }),
  approvals: z.array(z.object({ action: z.string(), at: time })).meta({
    description:
      'Changes to the account that an operator asked for and that wait for the approval of another.',
  }),
  spam_complaints: z
    .array(z.object({ email: z.string(), at: time }))
    .meta({ description: 'Mailboxes from which a mail of the application was reported as spam.' }),
  budgets: z
    .array(z.object({ counts: z.enum(['account', 'destination']), key: z.string(), sent_at: z.array(time) }))
    .meta({ description: 'The messages that count against the budgets of the account and of its contacts.' }),
})

/** The stored data about an account. */
export type AccountExport = z.output<typeof accountExport>
