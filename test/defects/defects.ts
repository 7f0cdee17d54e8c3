/** A defect that a check must find: an expression of a source, and what takes its place. */
export interface Defect {
  readonly file: string
  readonly right: string
  readonly wrong: string
}

/*
 * The defects that the checks of releases and of canaries were made for. The project `defects` of vitest runs with all of them in the
 * sources, switched off; its tests switch on one after the other, and see it found.
 */

/** A release that does not understand what another one stored or sent. */
export const INCOMPATIBLE = {
  'a session may have no unknown member': {
    file: 'src/session/record-text.ts',
    right: 'storedActivity.safeParse(stored).data',
    wrong:
      'storedActivity.extend({ record: storedActivity.shape.returnTo, user: storedActivity.shape.returnTo }).strict().safeParse(stored).data',
  },
  'a session must have a new member': {
    file: 'src/session/record-text.ts',
    right: 'storedActivity.safeParse(stored).data',
    wrong: 'storedActivity.extend({ origin: storedActivity.shape.returnTo.unwrap() }).safeParse(stored).data',
  },
  'the text of a session must have a new part': {
    file: 'src/session/record-text.ts',
    right: "stage === '2v' && length === 6",
    wrong: "stage === '2v' && length === 7",
  },
  'a trusted device may have no unknown member': {
    file: 'src/stores/trust/devices.ts',
    right: 'deviceRecord.safeParse(readJson(value)).data',
    wrong: 'deviceRecord.strict().safeParse(readJson(value)).data',
  },
  'a trusted device must have a new member': {
    file: 'src/stores/trust/devices.ts',
    right: 'deviceRecord.safeParse(readJson(value)).data',
    wrong: 'deviceRecord.extend({ system: z.string(), version: z.string() }).safeParse(readJson(value)).data',
  },
  'counters may have no unknown name': {
    file: 'src/stores/limits/step.ts',
    right: 'keptCounters.parse(json)',
    wrong: 'z.record(z.string().regex(/^(?!later)/), z.tuple([z.int(), z.number()])).parse(json)',
  },
  'counters are kept under a new key': {
    file: 'src/stores/limits/step-store.ts',
    right: "'mfa'",
    wrong: "'mfa2'",
  },
  'a setting of an application may have no unknown name': {
    file: 'service/src/accounts/applications/settings.ts',
    right: 'storedSchema.parse(JSON.parse(json))',
    wrong: 'settingsSchema.parse(JSON.parse(json))',
  },
  'the secrets of authenticator apps are sealed in another way': {
    file: 'service/src/store/secrets/keys.ts',
    right: "derive('sealing')",
    wrong: "derive('sealing 2')",
  },
  'an answer must have a new member': {
    file: 'src/client/verb-client.ts',
    right: 'z.safeDecode(verb.answer, validFields(answer))',
    wrong: 'z.object({ region: z.string() }).loose().safeParse(validFields(answer))',
  },
  'an answer may have no unknown member': {
    file: 'src/client/verb-client.ts',
    right: 'z.safeDecode(verb.answer, validFields(answer))',
    wrong:
      'z.strictObject({ status: z.string(), challenge: z.string() }).partial().safeParse(validFields(answer))',
  },
  'webhooks are signed in another way': {
    file: 'src/client/verify-webhook.ts',
    right: "signature.startsWith('v1,')",
    wrong: "signature.startsWith('v2,')",
  },
} as const satisfies Record<string, Defect>

/** A program that shows a secret, or a contact, to others than its user. */
export const LEAKS = {
  'a line of the log has a code': {
    file: 'service/src/flows/verify-code.ts',
    right: 'factorFields(context, application, input, input.type)',
    wrong: '{ account: input.code }',
  },
  'an error has a full contact': {
    file: 'src/client/phone-format.ts',
    right:
      '`A phone number of ${typed.length} characters is not valid: write one number with its country code and without an extension, such as +44 7700 900123${hint}`',
    wrong: '`The phone number ${phone} is not valid`',
  },
  'what a client consists of shows its API key': {
    file: 'src/client/mfa-client.ts',
    right: 'addPhoneFormat(httpService(readServiceAddress(service)), country)',
    wrong: 'Object.assign(httpService(readServiceAddress(service)), { address: service })',
  },
  'a label of a metric has an address': {
    file: 'service/src/api/http/observe-requests.ts',
    right: "typeof path === 'string' ? path : 'unknown'",
    wrong: 'request.originalUrl',
  },
  'a session keeps the secret of an app in the clear': {
    file: 'src/web/actions/enrollment.ts',
    right: 'enrollmentSeal.seal(exchange, JSON.stringify(kept), scope)',
    wrong: 'JSON.stringify(kept)',
  },
  'the database keeps codes in the clear': {
    file: 'service/src/store/secrets/codes.ts',
    right:
      "mac(key, ['compare', of.application, of.account, of.contact, of.type, of.code]).toString('base64url')",
    wrong: 'of.code',
  },
  'a span has the recipient of a message': {
    file: 'service/src/telemetry/log/tracing.ts',
    right: '`deliver ${channel}`',
    wrong: '`deliver ${channel} to ${message.to}`',
  },
  'a statement has a contact in its text': {
    file: 'service/src/store/store.ts',
    right: 'queries.query(text, values(parameters))',
    wrong: 'queries.query(`${text} /* ${values(parameters)} */`, values(parameters))',
  },
  'a page shows the factors of whoever came first': {
    file: 'src/session/user-factors.ts',
    right: 'createAccount(await readListedFactors(user, deps.settings), user, userId, deps)',
    wrong:
      'createAccount((readAccount.first ??= await readListedFactors(user, deps.settings)), user, userId, deps)',
  },
} as const satisfies Record<string, Defect>

export const DEFECTS = { ...INCOMPATIBLE, ...LEAKS }
