import type { VerbsOfKeys } from './key-verbs.js'
import type { CodeShapes } from './methods.js'
import type { AnswerTo, GrantedBy, RequestTo } from './verb.js'
import type { CodeVerbs } from './verbs.js'

interface Verbs extends CodeVerbs, VerbsOfKeys {}

/** The name of a verb, such as `verify` or, for keys, `authenticate`. */
export type VerbName = keyof Verbs

/** The input of the method of a verb. */
export type RequestOf<Name extends VerbName> = RequestTo<Verbs[Name]>

/** The result of the method of a verb. A refusal is a value; a failure of the service is thrown as a `ServiceError`. */
export type AnswerOf<Name extends VerbName> = AnswerTo<Verbs[Name]>

/** The result of the method of a verb that did its work. */
export type Granted<Name extends VerbName> = GrantedBy<Verbs[Name]>

type Method<Name extends VerbName> =
  unknown extends RequestOf<Name>
    ? () => Promise<AnswerOf<Name>>
    : (request: RequestOf<Name>) => Promise<AnswerOf<Name>>
type Methods<Table> = { -readonly [Name in keyof Table]: Name extends VerbName ? Method<Name> : never }

/** The purpose of a code. */
export type Purpose = NonNullable<RequestOf<'send'>['purpose']>

/** A key of an account. Times are milliseconds since 1970. */
export type Key = Granted<'list'>['keys'][number]

/** The verbs for keys. Without a relying party, and for a method that is off, they refuse with `method_off`. */
export interface KeyVerbs extends Methods<VerbsOfKeys> {}

type RequiredVerb = 'send' | 'verify'

/**
 * An MFA service: the HTTP client, the self-hosted service in the same process, or an implementation of your own. Each method
 * returns refusals as values, and throws a `ServiceError` if the service itself fails, so that the two are never confused.
 */
export interface MfaService
  extends Pick<Methods<CodeVerbs>, RequiredVerb>,
    Partial<Omit<Methods<CodeVerbs>, RequiredVerb>> {
  /** The forms of the service's codes; others are refused without a call. Without it, every code counts. */
  readonly codes?: CodeShapes
  /** Whether messages name what is approved and keys sign it. Without it, every approval is `entered`. */
  readonly approvals?: true
  /** Security keys and passkeys. Optional. Used only beside `factorsOf`, which says who has a key. */
  readonly keys?: KeyVerbs
  /** The messages that are not really sent, in development. Optional. The routes then list them at `/inbox`, outside production. */
  readonly inbox?: DevelopmentInbox | undefined
  /** Resolves when a service in this process has started. Optional. A call waits for it, for at most 30 seconds. */
  started?(): Promise<unknown>
  /** Closes sockets and files. Optional. Call it if you created the service. */
  close?(): Promise<void>
}

/** An MFA service with every verb that the routes require, such as the HTTP client. */
export type CompleteMfaService = MfaService & Required<Pick<MfaService, 'enrollApp' | 'sendBackupCodes'>>

/** The development inbox of a service. */
export interface DevelopmentInbox {
  /** The messages, newest first. */
  messages(): Promise<
    readonly {
      /** How it would have been sent, such as `sms` or `email`. */
      readonly channel: string
      /** The telephone number or mailbox that it is for. */
      readonly to: string
      /** Its text, with the code. */
      readonly text: string
      /** When it arrived, in ISO 8601 format. */
      readonly at: string
    }[]
  >
  /** The key that a request must show to read them. */
  key(): Promise<string>
}
