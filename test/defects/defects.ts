/** A defect that a check must find: an expression of a source, and what takes its place. */
export interface Defect {
  readonly file: string
  readonly right: string
  readonly wrong: string
}

/*
 * The defects that checks were made for. The project `defects` of vitest runs with all of them in the
 * sources, switched off; its tests switch on one after the other, and see it found.
 */

/** A release that does not understand what another one stored or sent. */
export const INCOMPATIBLE = {
  'a session may have no unknown member': {
    file: 'src/session/record-text.ts',
    right: 'activitySchema.safeParse(stored).data',
    wrong:
      'activitySchema.extend({ record: activitySchema.shape.returnTo, user: activitySchema.shape.returnTo }).strict().safeParse(stored).data',
  },
  'a session must have a new member': {
    file: 'src/session/record-text.ts',
    right: 'activitySchema.safeParse(stored).data',
    wrong: 'activitySchema.extend({ origin: activitySchema.shape.returnTo.unwrap() }).safeParse(stored).data',
  },
  'the text of a session must have a new part': {
    file: 'src/session/record-text.ts',
    right: "stage === '2v' && length === 6",
    wrong: "stage === '2v' && length === 7",
  },
  'a trusted device may have no unknown member': {
    file: 'src/stores/trust/devices.ts',
    right: 'deviceRecord.safeParse(jsonIn(value)).data',
    wrong: 'deviceRecord.strict().safeParse(jsonIn(value)).data',
  },
  'a trusted device must have a new member': {
    file: 'src/stores/trust/devices.ts',
    right: 'deviceRecord.safeParse(jsonIn(value)).data',
    wrong: 'deviceRecord.extend({ system: z.string(), version: z.string() }).safeParse(jsonIn(value)).data',
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
    file: 'src/verify-webhook.ts',
    right: "signature.startsWith('v1,')",
    wrong: "signature.startsWith('v2,')",
  },
} as const satisfies Record<string, Defect>

export const DEFECTS = { ...INCOMPATIBLE }
