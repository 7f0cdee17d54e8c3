import {
  type AnswerOf,
  KEY_VERBS,
  type RequestOf,
  VERBS,
  type Verb,
  type VerbName,
} from 'countersign/protocol'
import type { Application } from '../accounts/application.js'
import { deliveryState } from '../messages/delivery/queued-message.js'
import { authenticateKey } from './authenticate-key.js'
import { createBackupCodes, sendBackupCodes } from './backup-codes.js'
import type { FlowContext } from './context.js'
import { enrollApp } from './enroll-app.js'
import type { VerbInput, VerbWithBody } from './inputs.js'
import {
  accountFactors,
  listAccountKeys,
  removeAccountKey,
  removeFactor,
  renameAccountKey,
} from './manage-factors.js'
import {
  prepareKeyAuthentication,
  prepareKeyRegistration,
  publishedRelyingParty,
  registerKey,
} from './register-key.js'
import { sendCode } from './send-code.js'
import { verifyCode } from './verify-code.js'

/** What the OpenAPI document says of a member of a body or an answer, and of the members of that. */
export type Words =
  | string
  | { readonly says?: string; readonly examples?: unknown[]; readonly members?: MemberWords }

/** What the OpenAPI document says of members, by their names. */
export interface MemberWords {
  readonly [member: string]: Words
}

/** What the OpenAPI document says about a verb. */
export interface VerbWords {
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** Defaults to `Second factor`. */
  readonly tag?: string
  /** What a response with status 200 is. Defaults to a success. */
  readonly success?: string
  /** The names in braces in the path. */
  readonly parameters?: Readonly<
    Record<string, { readonly description: string; readonly maxLength: number; readonly example: string }>
  >
  readonly body?: MemberWords
  readonly answer?: MemberWords
}

type Flows<Verbs> = {
  readonly [Name in keyof Verbs & VerbName]: VerbWords & {
    flow(
      context: FlowContext,
      application: Application,
      input: Verbs[Name] extends VerbWithBody ? VerbInput<Verbs[Name]> : RequestOf<Name>,
    ): Promise<AnswerOf<Name>>
  }
}

const TRANSACTION: Words = {
  says: 'Your id for what the code is used for, such as a pending login. A code is then valid in its own transaction only.',
  examples: ['login-7f3a'],
}
const APPROVAL: Words = {
  says: 'With the purpose `approval`: what the user approves, as the SHA-256 of all of it in base64url and as one to four lines for the user. The message shows the lines; the code or the key counts for this digest and `Transaction` only. In a form, its JSON.',
  examples: [
    {
      digest: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU',
      lines: [
        { label: 'Amount', value: '€ 250.00' },
        { label: 'To', value: 'DE89370400440532013000' },
      ],
    },
  ],
}
const STATUS = '`queued`: the message was not delivered yet, and delivery is being retried.'
const BACKUP_DELIVERY =
  '`page`: the backup codes were shown on a page and sent to no contact. Absent for backup codes that were sent.'
const CHALLENGE = '3p_W79o5l64pvICP53C_rw'

/** What the service does for each verb of `VERBS`, and what its document says about it. */
export const FLOWS: Flows<typeof VERBS> = {
  send: {
    flow: sendCode,
    id: 'send',
    summary: 'Send a code',
    description:
      'Creates a code and sends it, or sends the code of an active challenge again. The response waits at most three seconds for the delivery.',
    body: {
      Type: 'How the code is sent.',
      Challenge: {
        says: 'Sends the code of this challenge again instead of a new one.',
        examples: [CHALLENGE],
      },
      Transaction: TRANSACTION,
      Purpose:
        'What the message says the code is for. `enrollment` binds a disabled contact again: ask for it only after another second factor was shown. Defaults to `sign-in`.',
      Approval: APPROVAL,
    },
    answer: {
      status: STATUS,
      challenge: {
        says: 'The id of the challenge. Pass it to verify, or to send the same code again.',
        examples: [CHALLENGE],
      },
      expires_in: { says: 'How many seconds the code is valid.', examples: [300] },
      resend_in: { says: 'Seconds until the code can be sent again.', examples: [30] },
      delivery_reports:
        'The delivery state will also say whether the message arrived: `delivered` or `failed`.',
    },
  },
  verify: {
    flow: verifyCode,
    id: 'verify',
    summary: 'Verify a code',
    description:
      'Checks a code and uses it up. Wrong, expired, used and unknown codes get the same response, 401 `invalid_code`.',
    body: {
      Type: 'Where the code came from: PHONE for every method that uses a phone number, APP for an authenticator app.',
      Code: { says: 'The code that the user entered; spaces and dashes are ignored.', examples: ['123456'] },
      Challenge: { says: 'The code is valid only if it was sent in this challenge.', examples: [CHALLENGE] },
      Transaction: TRANSACTION,
      Approval: APPROVAL,
      Kind: 'The kind of the code: a code that was sent or generated by an app, a backup code, or the first code of an app that is being set up. Without it, all kinds are accepted.',
    },
    answer: {
      backup_codes_left: { says: 'After a backup code: how many of them are left.', examples: [9] },
      backup_delivery: BACKUP_DELIVERY,
    },
  },
  enrollApp: {
    flow: enrollApp,
    id: 'enrollApp',
    summary: 'Set up an authenticator app',
    description:
      'Creates a secret for an authenticator app. It proves nothing until its first valid code was verified; until then, a former app stays valid.',
    answer: {
      qr: { says: 'A QR code to scan, a PNG.', examples: ['iVBORw0KGgo='] },
      otpauth_uri: {
        says: 'The content of the QR code.',
        examples: ['otpauth://totp/Vault:ann%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Vault'],
      },
      secret: { says: 'The key for manual entry.', examples: ['JBSWY3DPEHPK3PXP'] },
    },
  },
  sendBackupCodes: {
    flow: sendBackupCodes,
    id: 'sendBackupCodes',
    summary: 'Send backup codes',
    description: 'Creates a set of backup codes and sends them to the user. Each code can be used once.',
    body: { Type: 'How the codes are sent.' },
    answer: { status: STATUS, count: { says: 'How many codes were sent to the user.', examples: [10] } },
  },
  factorsOf: {
    flow: accountFactors,
    id: 'readFactors',
    summary: 'Get the factors of an account',
    description:
      'Says whether the account has an authenticator app, how many backup codes are left, and when factors were last used. It changes nothing and sends nothing.',
    answer: {
      existing: {
        says: 'Every factor that the account has, each type once, also those that cannot be used now. An account with one of these has MFA: do not let its user in with the password alone.',
        examples: [[{ type: 'PASSKEY', usable: true }]],
        members: {
          type: 'An authenticator app that is enrolled and confirmed, or a kind of keys. A disabled one counts, too.',
          usable:
            'Whether it can be used now: its method is switched on, and for keys, the application has a relying party.',
          digits: { says: 'How many digits the codes of the authenticator app have.', examples: [6] },
          weak: 'Present for an authenticator app whose imported secret has fewer than 128 bits (RFC 4226). Ask its user to set it up again.',
        },
      },
      offered_keys: { says: 'The kinds of keys that users can add now.', examples: [['PASSKEY']] },
      backup_codes_left: {
        says: 'How many backup codes are left that are valid for the contact.',
        examples: [10],
      },
      backup_delivery: BACKUP_DELIVERY,
      last_used: {
        says: 'When factors of the account were last used. One that is missing was never used.',
        members: {
          user: {
            says: 'The contact of a factor that receives codes, in canonical form.',
            examples: ['+447700900123'],
          },
          at: {
            says: 'When a code of the factor was last accepted, to the hour.',
            examples: ['2027-03-01T12:00:00.000Z'],
          },
        },
      },
    },
  },
  removeFactor: {
    flow: removeFactor,
    id: 'removeFactor',
    summary: 'Remove a factor',
    description:
      'Removes the authenticator app of an account, or all its backup codes, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    body: { Factor: 'The authenticator app, also one that is not confirmed yet, or all backup codes.' },
    answer: { removed: 'Whether the account had the factor.' },
  },
  createBackupCodes: {
    flow: createBackupCodes,
    id: 'createBackupCodes',
    summary: 'Create backup codes to show once',
    description:
      'Creates a set of backup codes and returns it, for a page that shows it once. It replaces all earlier codes at once, and is valid for the account with every contact. Each code can be used once. Ask for it only after a second factor was shown that is as strong as the strongest one of the account. The response is not kept, so a request that is sent again creates another set.',
    answer: {
      codes: {
        says: 'The codes, which are not returned again. Show them to the user once, and do not store them.',
        examples: [['4T7K-9XQM-2HVD-W3RP', 'B8N2-J6YC-5RKA-0GTF']],
      },
    },
  },
  deliveryOf: {
    flow: ({ store }, application, { challenge }) => deliveryState(store, application.id, challenge),
    id: 'readDelivery',
    summary: 'Get the delivery state of a message',
    success: 'The delivery state of the latest message of the challenge.',
    parameters: {
      challenge: {
        description: 'The challenge in the response of `/v1/mfa`.',
        maxLength: 128,
        example: CHALLENGE,
      },
    },
    answer: {
      status:
        '`queued`: no carrier has accepted the message yet. `sent`: a carrier accepted the message. `delivered`: the carrier reports that it arrived. `failed`: the carrier reports that it did not arrive. `refused`: a carrier permanently refused it. `expired`: no carrier accepted it in time. Unless it is queued, sent or delivered, offer another method. For DUAL, the worse state of the two messages.',
      channel: 'The channel of the message.',
      to: { says: 'The masked recipient.', examples: ['••• 23'] },
      carrier: { says: 'The carrier that delivered the message or was tried last.', examples: ['twilio'] },
      updated_at: { says: 'Time of the last change.', examples: ['2027-03-01T12:00:00.000Z'] },
    },
  },
}

const tag = 'Security keys and passkeys'
const TYPE_OF_KEY =
  'SECURITY_KEY proves possession; PASSKEY also requires that the authenticator verifies the user.'
const KEY_ID: Words = {
  says: 'The id of the key.',
  examples: ['UMO8h7MH5l-_U2aenrpM9ID4Af23BUvXEilftrUGZTc'],
}
const CEREMONY: MemberWords = {
  Approval: APPROVAL,
  Type: TYPE_OF_KEY,
  Purpose:
    'What the assertion is for. The response is accepted for the same purpose only. Defaults to `sign-in`.',
  Transaction: {
    says: 'Your id for what the challenge is used for, such as a pending login. The response is accepted in the same transaction only.',
    examples: ['login-7f3a'],
  },
}
const { Approval: _approved, Purpose: _ofAssertions, ...REGISTRATION } = CEREMONY
const OPTIONS: MemberWords = {
  options: 'Pass it to `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`.',
  expires_in: { says: 'How many seconds the challenge is valid.', examples: [300] },
}
const KEY: Words = {
  members: {
    type: 'The ceremony with which it was registered.',
    backup_eligible: 'Whether it can be synced to other devices.',
    backed_up: 'Whether it is synced at present.',
    last_used_at: 'When it was last accepted.',
  },
}

/** What the service does for each verb of `KEY_VERBS`, and what its document says about it. */
export const KEY_FLOWS: Flows<typeof KEY_VERBS> = {
  registrationOptions: {
    flow: prepareKeyRegistration,
    id: 'prepareKeyRegistration',
    summary: 'Get the options for registering a key',
    description:
      'Creates a challenge for registering a security key or a passkey, which is valid for five minutes and once. Pass `options` to `navigator.credentials.create` in the browser.',
    tag,
    body: {
      ...REGISTRATION,
      Type: { says: TYPE_OF_KEY, examples: ['PASSKEY'] },
      UserName: {
        says: 'The name of the account that the authenticator shows. Defaults to `User`.',
        examples: ['ann@example.com'],
      },
      Mediation:
        '`conditional` for a PASSKEY that the password manager creates without a prompt: the response need not say that the user was present and verified. Pass the same `mediation` to `navigator.credentials.create`.',
    },
    answer: OPTIONS,
  },
  register: {
    flow: registerKey,
    id: 'registerKey',
    summary: 'Register a key',
    description:
      'Checks the response of the authenticator, uses up its challenge and stores the key. The account holder is notified. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
    body: REGISTRATION,
    answer: { key: KEY },
  },
  authenticationOptions: {
    flow: prepareKeyAuthentication,
    id: 'prepareKeyAuthentication',
    summary: 'Get the options for proving possession of a key',
    description:
      'Creates a challenge for the keys of an account, which is valid for five minutes and once. Pass `options` to `navigator.credentials.get` in the browser.',
    tag,
    body: CEREMONY,
    answer: OPTIONS,
  },
  authenticate: {
    flow: authenticateKey,
    id: 'authenticateKey',
    summary: 'Check the response of a key',
    description:
      'Checks the response of the authenticator and uses up its challenge. Wrong responses count like wrong codes, except those without a valid challenge. `user_verified` says whether the key proved one factor or two.',
    tag,
    body: CEREMONY,
    answer: {
      key: KEY,
      user_verified: 'Whether the authenticator verified the user. This decides what was proven, not `Type`.',
    },
  },
  list: {
    flow: listAccountKeys,
    id: 'listKeys',
    summary: 'List the keys of an account',
    description:
      'Lists the security keys and passkeys of an account in the order in which they were registered, with what `PublicKeyCredential.signalAllAcceptedCredentials` needs. It changes nothing.',
    tag,
    answer: { keys: KEY },
  },
  rename: {
    flow: renameAccountKey,
    id: 'renameKey',
    summary: 'Rename a key',
    description: "Changes the user's name for a key.",
    tag,
    body: { Key: KEY_ID },
  },
  remove: {
    flow: removeAccountKey,
    id: 'removeKey',
    summary: 'Remove a key',
    description:
      'Removes a key of an account, and notifies every proven contact. Ask for it only after a second factor was shown that is as strong as the strongest one of the account.',
    tag,
    body: { Key: KEY_ID },
  },
  relyingParty: {
    flow: publishedRelyingParty,
    id: 'readRelyingParty',
    summary: 'Get the relying party',
    success:
      'The relying party of your application, from its settings. Serve `related_origins` as `origins` in `/.well-known/webauthn` on the domain `id`.',
    tag,
  },
}

/** A verb, what the service does for it, and what its document says about it. */
export interface VerbFlow extends VerbWords {
  readonly verb: Verb
  flow(context: FlowContext, application: Application, input: unknown): Promise<unknown>
}

/** All verbs, in the order of the tables. */
export const VERB_FLOWS: readonly VerbFlow[] = [
  ...Object.values(flowsOf(VERBS, FLOWS)),
  ...Object.values(flowsOf(KEY_VERBS, KEY_FLOWS)),
]

/** Verbs with their flows, by their names. */
export function flowsOf<Name extends string>(
  verbs: Readonly<Record<Name, Verb>>,
  flows: Readonly<Record<Name, object>>,
): Readonly<Record<Name, VerbFlow>> {
  const names = Object.keys(verbs) as Name[]
  const pairs = names.map((name) => [name, { verb: verbs[name], ...flows[name] }])
  return Object.fromEntries(pairs)
}

/** Whether a verb takes parameters. */
export function takesBody(verb: Verb): verb is VerbWithBody {
  return verb.body !== undefined
}
