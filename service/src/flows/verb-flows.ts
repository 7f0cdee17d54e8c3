import { KEY_VERBS, type keyTypes, type MfaService, type rows, VERBS } from 'countersign/protocol'
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

/** What the service does for each verb of `VERBS`. */
export const FLOWS: Flows<typeof VERBS, Required<MfaService>> = {
  send: sendCode,
  verify: verifyCode,
  enrollApp,
  sendBackupCodes,
  factorsOf: accountFactors,
  removeFactor,
  createBackupCodes,
  deliveryOf: ({ store }, application, { challenge }) => deliveryState(store, application.id, challenge),
}

/** What the service does for each verb of `KEY_VERBS`. */
export const KEY_FLOWS: Flows<typeof KEY_VERBS, keyTypes.KeyVerbs> = {
  registrationOptions: prepareKeyRegistration,
  register: registerKey,
  authenticationOptions: prepareKeyAuthentication,
  authenticate: authenticateKey,
  list: listAccountKeys,
  rename: renameAccountKey,
  remove: removeAccountKey,
  relyingParty: publishedRelyingParty,
}

type Flows<Verbs, Service> = {
  readonly [Name in keyof Verbs & keyof Service]: Service[Name] extends (
    request: infer Request,
  ) => infer Answer
    ? (
        context: FlowContext,
        application: Application,
        input: Verbs[Name] extends VerbWithBody ? VerbInput<Verbs[Name]> : Request,
      ) => Answer
    : never
}

/** A verb, and what the service does for it. */
export interface VerbFlow {
  readonly verb: rows.Verb
  flow(context: FlowContext, application: Application, input: unknown): Promise<unknown>
}

/** All verbs, in the order of the tables. */
export const VERB_FLOWS: readonly VerbFlow[] = [
  ...Object.values(flowsOf(VERBS, FLOWS)),
  ...Object.values(flowsOf(KEY_VERBS, KEY_FLOWS)),
]

/** Verbs with their flows, by their names. */
export function flowsOf<Name extends string>(
  verbs: Readonly<Record<Name, rows.Verb>>,
  flows: Readonly<Record<Name, unknown>>,
): Readonly<Record<Name, VerbFlow>> {
  const names = Object.keys(verbs) as Name[]
  const pairs = names.map((name) => [name, { verb: verbs[name], flow: flows[name] }])
  return Object.fromEntries(pairs)
}

/** Whether a verb takes parameters. */
export function takesBody(verb: rows.Verb): verb is VerbWithBody {
  return verb.body !== undefined
}
