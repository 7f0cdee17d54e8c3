import type { KeyFailure } from '../../protocol/keys.js'
import type { CodeMethod, DeliveredMethod, KeyMethod, Method } from '../../protocol/methods.js'
import type { ProblemCode, SuccessCode } from '../view.js'

/** A text with `{placeholders}`. For each key, all catalogues use the same placeholders. */
export type Phrase = string

/** A text that depends on a number, with the plural categories of the language (`Intl.PluralRules`). */
export type PluralPhrase = Readonly<Partial<Record<Intl.LDMLPluralRule, Phrase>> & { other: Phrase }>

/** `title` says what happened, `advice` what to do now. */
interface ProblemText {
  readonly title: Phrase
  /** May contain `{in}` (a time, "in 5 minutes") and `{app}`. */
  readonly advice: Phrase
}

type CodeKind = CodeMethod | 'backup'

/**
 * The texts of the pages in one language. `{to}` is a masked contact, `{app}` the name of the app, `{in}` a future time
 * as formatted by `Intl.RelativeTimeFormat`.
 */
export interface Catalogue {
  /** The direction of writing: from left to right, or from right to left. */
  readonly dir: 'ltr' | 'rtl'
  /** The title of the document: `{page}` and `{app}`. */
  readonly documentTitle: Phrase
  /** The title of the document on a page with an error. */
  readonly documentTitleError: Phrase
  /** Replaces `{in}` if the time is unknown. */
  readonly later: Phrase
  /** For the host's own pages; `{date}` is the day from which a second factor is required. */
  readonly grace: Phrase
  /** The same where the policy requires a strength: a key, or something stronger than what the user has. */
  readonly graceFor: { readonly key: Phrase; readonly stronger: Phrase }
  /** Why a login that showed a weaker factor, or has none, goes on with setting one up. Contains `{app}`. */
  readonly strongerRequired: Phrase
  /** On the factor page and for the host's own pages: the secret of an imported authenticator app is short. */
  readonly weakApp: Phrase
  /** The page on which the user chooses a factor. */
  readonly choose: {
    readonly title: Phrase
    readonly lead: Readonly<Record<'sign-in' | 'step-up' | 'recovery', Phrase>>
    /** The title where there is one option only: it says what happens next. Contains `{to}`. */
    readonly only: Readonly<Record<DeliveredMethod, Phrase>>
    readonly onlyLead: Readonly<Record<'sign-in' | 'step-up', Phrase>>
    /** Labels of the buttons. They contain `{to}`, except for an authenticator app and for keys. */
    readonly act: Readonly<Record<Method, Phrase>>
    readonly backup: Phrase
    readonly backupHint: Phrase
    /** A link for users of whom it is unknown whether they have backup codes. */
    readonly backupMaybe: Phrase
    readonly emailHint: Phrase
    /** For text messages, WhatsApp, calls, and a code sent by both email and text message. */
    readonly phoneHint: Phrase
    /** Shown if the user has no factor. */
    readonly none: Phrase
  }
  /** The page on which the user enters a code. */
  readonly code: {
    readonly title: Readonly<Record<CodeKind, Phrase>>
    /** No code was sent yet. */
    readonly titleFirst: Phrase
    /** The code has expired or has no attempts left. */
    readonly titleNew: Phrase
    readonly sent: Readonly<Record<DeliveredMethod, Phrase>>
    readonly queued: Phrase
    /** The carrier reports that the message arrived. */
    readonly delivered: Phrase
    /** The message could not be delivered; the other factors are listed below. */
    readonly refused: Phrase
    readonly from: Readonly<Record<Exclude<CodeKind, DeliveredMethod>, Phrase>>
    readonly label: Phrase
    readonly labelBackup: Phrase
    readonly submit: Phrase
    /** Contains `{time}`, a duration. */
    readonly trust: Phrase
    readonly trustHint: Phrase
    readonly expires: Phrase
    readonly expired: Phrase
    readonly again: Phrase
    readonly callAgain: Phrase
    /** Button to start over when a challenge for an authenticator app has no attempts left. */
    readonly restart: Phrase
    readonly againWait: Phrase
    readonly againReady: Phrase
    /** Heading of the help for users who do not get a code. */
    readonly trouble: Readonly<Record<CodeKind, Phrase>>
    readonly tip: Readonly<Record<CodeKind, Phrase>>
    readonly otherFactors: Phrase
    readonly allFactors: Phrase
  }
  /** The end of a page: how long the login is pending, and how to leave it. */
  readonly leave: {
    readonly ends: Phrase
    readonly cancel: Phrase
    readonly notNow: Phrase
    readonly back: Phrase
  }
  /** The pages for enrolling an authenticator app. */
  readonly enroll: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly replaces: Phrase
    readonly start: Phrase
    /** Too many wrong codes, or too long a time: the user starts over. */
    readonly over: Readonly<Record<'exhausted' | 'expired', ProblemText>>
    readonly restart: Phrase
    /** In a browser that cannot show QR code and key. */
    readonly hidden: Phrase
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
  /** The page after enrolling an authenticator app. */
  readonly enrolled: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly advice: Phrase
    /** For users to whom no backup codes can be sent. */
    readonly adviceAlone: Phrase
    readonly backup: Phrase
    readonly done: Phrase
  }
  /** The pages for requesting backup codes. */
  readonly backup: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly to: Phrase
    readonly replaces: Phrase
    readonly send: Phrase
    /** For users to whom the codes can be shown. */
    readonly once: Phrase
    readonly show: Phrase
    readonly sendInstead: Phrase
    readonly sentTitle: Phrase
    readonly sent: Phrase
    readonly count: PluralPhrase
    readonly keep: Phrase
  }
  /** The page that shows new backup codes once. */
  readonly backupCodes: {
    readonly title: Phrase
    readonly lead: Phrase
    /** The name of the list, for screen readers. */
    readonly list: Phrase
    readonly copy: Phrase
    readonly copied: Phrase
    readonly print: Phrase
    readonly download: Phrase
    /** The first line of the downloaded file. */
    readonly file: Phrase
    readonly saved: Phrase
    /** The page was loaded again. */
    readonly goneTitle: Phrase
    readonly gone: Phrase
    readonly again: Phrase
  }
  /** The page after a sign-in with a backup code. */
  readonly codesLeft: {
    /** Few are left. */
    readonly title: Phrase
    /** More than a few are left. */
    readonly used: Phrase
    readonly left: PluralPhrase
    /** The last backup code was used. */
    readonly none: Phrase
    /** On the page of factors: there are none. */
    readonly zero: Phrase
    readonly advice: Phrase
  }
  /** The page of a signed-in user: factors, and what can be set up. */
  readonly overview: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly none: Phrase
    readonly factors: Phrase
    readonly method: Readonly<Record<Method, Phrase>>
    readonly enroll: Phrase
    readonly replace: Phrase
    readonly backup: Phrase
    /** Links to the host's page for one factor; screen readers add its name. */
    readonly change: Phrase
    /** Links to the host's page for adding a contact. */
    readonly add: Phrase
  }
  /** The page before a factor is removed. */
  readonly remove: {
    readonly appTitle: Phrase
    readonly app: Phrase
    readonly codesTitle: Phrase
    readonly codes: Phrase
    /** Above the list of the other factors. */
    readonly next: Phrase
    /** What is then enough to change the factors: a code by email. */
    readonly mailbox: Phrase
    /** The same for a phone number. */
    readonly phone: Phrase
    /** What it means when nothing is left. */
    readonly password: Phrase
    readonly browsers: Phrase
    readonly cancel: Phrase
  }
  /** On the pages on which the user approves one request: what they approve, and the button that refuses it. */
  readonly approval: { readonly lead: Phrase; readonly refuse: Phrase }
  /** The page on which the user sends an interrupted form again. */
  readonly resume: {
    readonly title: Phrase
    readonly lead: Phrase
    /** Replaces a value that looks like a secret. */
    readonly hidden: Phrase
    readonly confirm: Phrase
  }
  /** The list of trusted browsers. */
  readonly devices: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly none: Phrase
    /** Contains `{browser}` and `{system}`. */
    readonly name: Phrase
    readonly unknown: Phrase
    readonly current: Phrase
    /** `{when}`: "today", "3 days ago". */
    readonly used: Phrase
    readonly ends: Phrase
    readonly revoke: Phrase
    readonly revokeAll: Phrase
  }
  /** The pages behind the "this wasn't me" link of a notice. */
  readonly notMe: {
    readonly title: Phrase
    readonly lead: Phrase
    readonly confirm: Phrase
    /** For users who opened the link although it was them. */
    readonly otherwise: Phrase
    readonly doneTitle: Phrase
    readonly done: Phrase
    readonly next: Phrase
  }
  /** Account recovery after a waiting period. */
  readonly recovery: {
    /** The link on the pages where the user confirms a sign-in. */
    readonly link: Phrase
    readonly title: Phrase
    /** `{time}`: "24 hours". */
    readonly lead: Phrase
    /** The list of contacts follows. */
    readonly notify: Phrase
    readonly ends: Phrase
    readonly request: Phrase
    /** For users without a weaker factor. */
    readonly impossible: Phrase
    readonly waitingTitle: Phrase
    /** `{in}`: "in 23 hours". */
    readonly waiting: Phrase
    /** The list of contacts follows. */
    readonly notified: Phrase
    readonly unreached: Phrase
    readonly stop: Phrase
    readonly readyTitle: Phrase
    readonly ready: Phrase
    readonly complete: Phrase
    readonly cancel: Phrase
    /** The pages behind the link in a notice. */
    readonly cancelTitle: Phrase
    readonly cancelLead: Phrase
    readonly canceledTitle: Phrase
    readonly canceled: Phrase
    readonly canceledNext: Phrase
  }
  /** The entry of the bypass code that staff hand over. */
  readonly bypass: { readonly title: Phrase; readonly lead: Phrase; readonly label: Phrase }
  /** Security keys and passkeys. */
  readonly keys: {
    /** Below the heading, such as "Use your passkey", above a button that continues. */
    readonly lead: Readonly<Record<KeyMethod, Phrase>>
    /** Shown when the browser runs no scripts. */
    readonly needsScript: Phrase
    readonly title: Phrase
    readonly listLead: Phrase
    readonly none: Phrase
    /** The key cannot be synced. */
    readonly oneDevice: Phrase
    readonly synced: Phrase
    /** `{when}`: "March 1, 2027". */
    readonly added: Phrase
    readonly add: Readonly<Record<KeyMethod, Phrase>>
    readonly addHint: Readonly<Record<KeyMethod, Phrase>>
    /** Opens the field for the name; screen readers add the name of the key. */
    readonly rename: Phrase
    readonly name: Phrase
    readonly save: Phrase
    /** `{name}`: the name of the key. */
    readonly removeTitle: Phrase
    readonly remove: Phrase
    /** What it means when no other key is left. */
    readonly phishing: Phrase
    /** Before a key is added. */
    readonly browsers: Phrase
    /** The page after a sign-in with a code. */
    readonly offerTitle: Phrase
    readonly offerLead: Phrase
    readonly failures: Readonly<Record<KeyFailure | 'offline', ProblemText>>
  }
  /** Label of the language switch. */
  readonly language: Phrase
  /** The link of a page on which the user cannot continue, by where it leads. */
  readonly stop: Readonly<Record<'sign-in' | 'retry' | 'home' | 'own-account', Phrase>>
  /** The service failed where no code was typed. */
  readonly unavailable: ProblemText
  /** Replaces the countdown of a stop page when it ends. */
  readonly stopReady: Phrase
  /** How many attempts are left. It contains `{count}`. */
  readonly attemptsLeft: PluralPhrase
  /** The app code was valid some time ago; `{time}`: "4 minutes". */
  readonly clockSlow: Phrase
  /** Messages about an action that succeeded, by its code. */
  readonly success: Readonly<Record<SuccessCode, Phrase>>
  /** Messages about an error, by the code of the problem. */
  readonly problems: Readonly<Record<ProblemCode, ProblemText>>
}
