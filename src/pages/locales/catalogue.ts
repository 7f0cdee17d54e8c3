import type { DeliveredMethod, Method } from '../../protocol/methods.js'
import type { PageFrame, ProblemCode, SuccessCode } from '../view.js'

/** A text with `{placeholders}`. Every catalogue uses the same placeholders under the same key. */
export type Phrase = string

/** A text that depends on a number, by the plural categories of the language (`Intl.PluralRules`). */
export type PluralPhrase = Readonly<Partial<Record<Intl.LDMLPluralRule, Phrase>> & { other: Phrase }>

/** What happened, and what to do now. */
interface ProblemText {
  readonly title: Phrase
  /** May use `{in}` (a point in time, "in 5 minutes") and `{app}`. */
  readonly advice: Phrase
}

type CodeKind = Method | 'backup'

/**
 * Every text of the pages in one language. `{to}` is a masked contact, `{app}` the name of the app, `{in}` a
 * point in time as `Intl.RelativeTimeFormat` words it.
 */
export interface Catalogue {
  readonly dir: 'ltr' | 'rtl'
  /** The title of the document: `{page}` and `{app}`. */
  readonly documentTitle: Phrase
  /** The same when the page tells of an error. */
  readonly documentTitleError: Phrase
  /** Stands for `{in}` when nobody knows how long. */
  readonly later: Phrase
  /** On the host's own pages; `{date}` is the day on which a second factor will be required. */
  readonly grace: Phrase
  readonly choose: {
    readonly title: Phrase
    readonly lead: Readonly<Record<PageFrame['purpose'], Phrase>>
    /** What pressing the button does; `{to}`, except for an authenticator app. */
    readonly act: Readonly<Record<Method, Phrase>>
    readonly backup: Phrase
    readonly backupHint: Phrase
    readonly emailHint: Phrase
    /** Of a text message, WhatsApp, a call, and of a code to mailbox and telephone. */
    readonly phoneHint: Phrase
    /** There is no factor at all. */
    readonly none: Phrase
  }
  readonly code: {
    readonly title: Readonly<Record<CodeKind, Phrase>>
    /** Nothing was sent yet, or what was sent takes no more codes. */
    readonly titleFirst: Phrase
    readonly titleNew: Phrase
    readonly sent: Readonly<Record<DeliveredMethod, Phrase>>
    readonly queued: Phrase
    /** What was queued could not be delivered; the other ways stand below. */
    readonly refused: Phrase
    readonly from: Readonly<Record<Exclude<CodeKind, DeliveredMethod>, Phrase>>
    readonly label: Phrase
    readonly labelBackup: Phrase
    readonly submit: Phrase
    /** Has `{time}`, a length of time. */
    readonly trust: Phrase
    readonly trustHint: Phrase
    readonly expires: Phrase
    readonly expired: Phrase
    readonly again: Phrase
    readonly callAgain: Phrase
    /** A challenge by authenticator app that takes no more codes starts over. */
    readonly restart: Phrase
    readonly againWait: Phrase
    readonly againReady: Phrase
    /** Heads what to do when the code does not come. */
    readonly trouble: Readonly<Record<CodeKind, Phrase>>
    readonly tip: Readonly<Record<CodeKind, Phrase>>
    readonly otherFactors: Phrase
    readonly allFactors: Phrase
  }
  readonly leave: {
    readonly ends: Phrase
    readonly cancel: Phrase
    readonly notNow: Phrase
    readonly back: Phrase
  }
  readonly enroll: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly replaces: Phrase
    readonly start: Phrase
    readonly stepOpen: Phrase
    readonly stepScan: Phrase
    readonly stepKey: Phrase
    readonly stepCode: Phrase
    readonly qrAlt: Phrase
    readonly samePhone: Phrase
    readonly cannotScan: Phrase
    readonly secret: Phrase
    readonly secretSettings: Phrase
    readonly copy: Phrase
    readonly copied: Phrase
    readonly confirm: Phrase
  }
  readonly enrolled: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly advice: Phrase
    /** For somebody to whom no backup codes could be sent. */
    readonly adviceAlone: Phrase
    readonly backup: Phrase
    readonly done: Phrase
  }
  readonly backup: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly to: Phrase
    readonly replaces: Phrase
    readonly send: Phrase
    readonly sentTitle: Phrase
    readonly sent: Phrase
    readonly count: PluralPhrase
    readonly keep: Phrase
  }
  readonly codesLeft: {
    readonly title: Phrase
    readonly left: PluralPhrase
    /** The last one was used. */
    readonly none: Phrase
    readonly advice: Phrase
  }
  readonly overview: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly none: Phrase
    readonly factors: Phrase
    readonly method: Readonly<Record<Method, Phrase>>
    readonly enroll: Phrase
    readonly replace: Phrase
    readonly backup: Phrase
  }
  readonly resume: {
    readonly title: Phrase
    readonly lead: Phrase
    /** Stands for what looks like a secret. */
    readonly hidden: Phrase
    readonly confirm: Phrase
  }
  readonly devices: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly none: Phrase
    /** `{browser}` and `{system}`. */
    readonly name: Phrase
    readonly unknown: Phrase
    readonly current: Phrase
    /** `{when}`: "today", "3 days ago". */
    readonly used: Phrase
    readonly ends: Phrase
    readonly revoke: Phrase
    readonly revokeAll: Phrase
  }
  readonly notMe: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly confirm: Phrase
    /** The link was opened by somebody who did it themselves. */
    readonly otherwise: Phrase
    readonly doneTitle: Phrase
    readonly done: Phrase
    readonly next: Phrase
  }
  /** Names the switch of languages. */
  readonly language: Phrase
  readonly stop: Readonly<Record<'sign-in' | 'retry' | 'home', Phrase>>
  /** What the countdown of a stop page turns into. */
  readonly stopReady: Phrase
  readonly attemptsLeft: PluralPhrase
  /** An app code was right some time ago; `{time}`: "4 minutes". */
  readonly clockSlow: Phrase
  readonly success: Readonly<Record<SuccessCode, Phrase>>
  readonly problems: Readonly<Record<ProblemCode, ProblemText>>
}
