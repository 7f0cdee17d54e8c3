import type { DetailLine } from '../protocol/details.js'
import type { KeyFault } from '../protocol/keys.js'
import type { CodeMethod, KeyMethod, Method } from '../protocol/methods.js'

/** A factor as a page shows it. */
export interface FactorView<Shown extends Method = Method> {
  /** The id of the factor, as forms post it. */
  readonly id: string
  /** The method of the factor. */
  readonly method: Shown
  /** The masked contact. For an authenticator app and keys, the contact of the account, which our pages do not show. */
  readonly to: string
  /** The label from the host, if any. */
  readonly label?: string
  /** The host's page on which the user changes the factor. Only in the view `overview`. */
  readonly manageUrl?: string
  /** When a code of it was last accepted, in milliseconds since 1970, if the service says. Only in the view `overview`. */
  readonly lastUsedAt?: number
  /** Whether the page `remove` can remove it. Only in the view `overview`, and only of an authenticator app. */
  readonly canRemove?: boolean
}

/** A security key or passkey, as a page shows it. Times are milliseconds since 1970. */
export interface KeyView {
  /** The id of the key, as forms post it. */
  readonly id: string
  /** How the user confirms with it. */
  readonly method: KeyMethod
  /** The user's name for it. */
  readonly name: string
  /** Whether it can be synced to other devices. Otherwise it exists on one device only. */
  readonly synced: boolean
  /** When it was added. */
  readonly createdAt: number
  /** When it was last accepted. Absent if it never was. */
  readonly lastUsedAt?: number
}

/** A challenge as a page shows it. Times are milliseconds since 1970. */
export interface ChallengeView {
  /** The factor that the challenge belongs to. */
  readonly factor: FactorView
  /** `delivered` and `refused`: the service reports that the message arrived, or could not be delivered. */
  readonly delivery: 'sent' | 'queued' | 'none' | 'delivered' | 'refused'
  /** Whether the page may poll the state of the message from `{base}/verify` in JSON, because it may still change. */
  readonly follow?: boolean
  /** Whether the service reports `delivered`, so that `sent` is not the last state. */
  readonly reports?: boolean
  /** When the code expires. */
  readonly expiresAt: number
  /** When the code can be sent again. Absent for an authenticator app. */
  readonly resendAt?: number
}

/** A trusted browser, as a page shows it. Times are milliseconds since 1970. */
export interface DeviceView {
  /** The public id of the device, as forms post it. */
  readonly id: string
  /** The name of the browser, like `Firefox`, if it is known. */
  readonly browser?: string
  /** The name of the operating system, like `Windows`, if it is known. */
  readonly system?: string
  /** Where the browser was when it was trusted, as the host describes it. */
  readonly location?: string
  /** When it last skipped the second factor, or was trusted. */
  readonly lastUsedAt: number
  /** When the trust ends. */
  readonly expiresAt: number
  /** Whether it is the browser that shows the page. */
  readonly current: boolean
}

/** An entry of an interrupted form, for the user to check. */
export interface ResumeEntry {
  /** The label of the field, in the language of the page. */
  readonly label: string
  /** Absent if the field looks like a secret, which no page shows. */
  readonly value?: string
}

/** Every `code` of a problem response or an error page. */
export type ProblemCode = keyof typeof import('../flows/problems.js').PROBLEMS

/** The successes that a page can report. */
export type SuccessCode =
  | 'signed_in'
  | 'code_sent_again'
  | 'app_removed'
  | 'backup_codes_removed'
  | 'key_added'
  | 'key_saved'
  | 'key_renamed'
  | 'key_removed'
  | 'device_revoked'
  | 'devices_revoked'

/** A message that a page shows once, above the form. */
export type PageMessage =
  | {
      readonly tone: 'error'
      readonly code: ProblemCode
      readonly attemptsLeft?: number
      /** How many 30-second steps ago the app code was valid, as a negative number. */
      readonly clockSteps?: number
      /** Why the response of a security key or passkey was not accepted. */
      readonly fault?: KeyFault
      /** The field of the request that is wrong. */
      readonly field?: string
      readonly retryAfterSeconds?: number
    }
  | { readonly tone: 'success'; readonly code: SuccessCode }
  /** Why the user was led to this page, on which nothing went wrong. */
  | { readonly tone: 'note'; readonly code: 'enrollment_required' }

/** The properties that all pages share. */
export interface PageFrame {
  /** The preferred languages of the browser or the host, as BCP 47 tags, best first. */
  readonly locales: readonly string[]
  /** The name of the app, from the options. */
  readonly appName: string
  /** The name of the account, if the option `pages.accountName` returns one. */
  readonly accountName?: string
  /** Where the routers are mounted, for example `/mfa`. The forms post to paths below it. */
  readonly base: string
  /** The sign-in page of the app. */
  readonly signInPath: string
  /** The target of "back" if there is no other. */
  readonly homePath: string
  /** Why the user is on the page: to sign in, to step up, or to manage factors. */
  readonly purpose: 'sign-in' | 'step-up' | 'manage'
  /** When the pending login ends, in milliseconds since 1970. Absent unless a login is pending. */
  readonly pendingLoginEndsAt?: number
  /** The time of the server in milliseconds since 1970, so that countdowns do not depend on the browser's clock. */
  readonly now: number
  /** The message to show above the form. Absent if there is none. */
  readonly message?: PageMessage
  /** The languages to choose from, as BCP 47 tags. The form posts `language` and `back`, the page's path, to `{base}/language`. */
  readonly languages?: { readonly offer: readonly string[]; readonly back: string }
  /** The action that the user is asked to approve. Every form of the page posts its `id` as `approval`. */
  readonly approval?: { readonly id: string; readonly lines: readonly DetailLine[] }
  /** The host's help text for users who cannot use any factor, shown below the other factors. */
  readonly help?: string
  /** The page for users who have lost their strongest factor. Absent if the app offers no recovery. */
  readonly recoverPath?: string
  /** The host's logo, a path on this site. It takes the place of the initial beside the name. */
  readonly logo?: string
  /** The host's style sheet, linked after `mfa.css`, to set its custom properties. */
  readonly stylesheet?: string
}

/** A page on which the user shows one factor, beside which there may be others. */
interface FactorPage {
  /** There are no attempts left. A form that posts `factor` to `{base}/challenge` starts over, or sends a new code. */
  readonly exhausted: boolean
  readonly others: readonly FactorView[]
  /** As in the view `choose`. */
  readonly backup: boolean
  /** As in the view `choose`. */
  readonly mayHaveBackup?: boolean
  /** Present if the browser can be trusted, with a checkbox that posts `trust`. `ticked` keeps it after a wrong code. */
  readonly trust?: { readonly forMs: number; readonly ticked: boolean }
}

/** The data of a page. A host that replaces a page gets exactly this. */
export type View =
  /** The choice of a factor. Each is a form that posts `factor` to `{base}/challenge`. */
  | {
      readonly page: 'choose'
      readonly factors: readonly FactorView[]
      /** The id of the highlighted factor. */
      readonly preferred?: string
      /** Whether the user has backup codes. */
      readonly backup: boolean
      /** Whether that is unknown, so that the page asks. */
      readonly mayHaveBackup?: boolean
      /** Whether a recovery is requested next. Lists the factors that permit it; `{base}?choose=all` lists all. Defaults to false. */
      readonly recovers?: boolean
    }
  /** The form for a code. It posts `code` and `factor` to `{base}/verify`; `factor` is `backup` for a backup code. */
  | ({
      readonly page: 'code'
      readonly factor: FactorView<CodeMethod> | 'backup'
      readonly challenge?: ChallengeView
      /** Number of digits after which the form is submitted. Defaults to 6; 0 waits for the button. */
      readonly digits?: number
      /** Whether a code of the app was used a moment ago, so that only the next one is accepted. Defaults to false. */
      readonly isUsed?: boolean
    } & FactorPage)
  /**
   * The page on which the user confirms with a security key or passkey. Its script posts `factor` to `{base}/challenge` for JSON,
   * gives the `publicKey` of the answer to the browser, and posts `factor` and the JSON of the credential, as `response`, to
   * `{base}/verify` in a form. Without a script, the page says that this factor needs one, and offers the others.
   */
  | ({ readonly page: 'key'; readonly factor: FactorView<KeyMethod> } & FactorPage)
  /**
   * The security keys and passkeys of a signed-in user. To add one, the script posts `method` to `{base}/keys/options` for JSON,
   * gives the `publicKey` of the answer to the browser, and posts `method` and the JSON of the credential, as `response`, to
   * `{base}/keys` in a form, with the user's `name` if there is one. A form posts `key` and `name` to `{base}/keys/rename`. A link
   * leads to `{base}/keys/remove?key={id}`.
   */
  | {
      readonly page: 'keys'
      readonly keys: readonly KeyView[]
      /** The factors that can be added. */
      readonly methods: readonly KeyMethod[]
      /** For the Signal API: the relying party's id, and the user handle and name of the account once there is a key. */
      readonly relyingPartyId: string
      readonly userHandle?: string
      readonly userName: string
      /** Where the user continues after a key was added during sign-in. */
      readonly next?: string
      /** Whether the sign-in goes on with setting up a stronger factor. Defaults to false. */
      readonly strongerRequired?: boolean
      /** Whether the trusted devices are revoked when one is added. Defaults to false. */
      readonly revokesDevices?: boolean
    }
  /** Before a key is removed, by posting `key` to `{base}/keys/remove`. `others`: the factors that are left. */
  | {
      readonly page: 'key-remove'
      readonly key: KeyView
      readonly others: readonly FactorView[]
      readonly revokesDevices: boolean
    }
  /** Offers a passkey after a sign-in, as `keys`. A form that declines posts to `{base}/keys/offer/decline`, which leads to `next`. */
  | {
      readonly page: 'key-offer'
      readonly next: string
      /** Whether the browser may create the passkey without a prompt. */
      readonly mayCreate: boolean
      /** As in the view `keys`. */
      readonly revokesDevices?: boolean
    }
  /** Before an app is set up by `POST {base}/enroll-app`. `over`: the enrollment before failed or took too long. */
  | {
      readonly page: 'enroll-start'
      readonly replaces: boolean
      readonly over?: 'exhausted' | 'expired'
      /** Whether a security key or passkey can be added instead, at `{base}/keys`. Defaults to false. */
      readonly keys?: boolean
      /** Whether the sign-in goes on with setting up a stronger factor. Defaults to false. */
      readonly strongerRequired?: boolean
      /** The host's page on which the user adds a phone number or mailbox instead. */
      readonly addUrl?: string
      /** Whether the trusted devices are revoked, too. Defaults to false. */
      readonly revokesDevices?: boolean
    }
  /** The QR code; posts `code` to `{base}/enroll-app/confirm`. Without `qr` and `secret`, the user can start over. */
  | {
      readonly page: 'enroll'
      readonly qr?: string
      readonly uri?: string
      readonly secret?: string
      /** As in the view `code`. */
      readonly digits?: number
    }
  /** The app is set up. `backup`: whether backup codes can be sent. The link leads to `next`, by default to the home page. */
  | { readonly page: 'enrolled'; readonly backup: boolean; readonly next?: string }
  /** Before codes are created. `shows`: posts to `{base}/backup/codes`, which shows them. `to`: posts to `{base}/backup`, which sends them. */
  | { readonly page: 'backup'; readonly to?: string; readonly shows?: boolean }
  /** New backup codes, shown only now, so the only way on is the form that posts to `{base}/backup/saved`. */
  | { readonly page: 'backup-codes'; readonly codes: readonly string[] }
  /** The page with the backup codes was loaded again. It posts to `{base}/backup/codes`. The link leads to `next`, by default to the first page. */
  | { readonly page: 'backup-codes-gone'; readonly next?: string }
  /** The backup codes were sent. The link leads to `next`, by default to the home page. */
  | { readonly page: 'backup-sent'; readonly to: string; readonly count?: number; readonly next?: string }
  /** Shown after a sign-in with a backup code: how many are left. Links to `{base}/backup` and to `next`. */
  | { readonly page: 'backup-codes-left'; readonly left: number; readonly next: string }
  /** The page of a signed-in user, to manage their factors. */
  | {
      readonly page: 'overview'
      readonly factors: readonly FactorView[]
      readonly backup: boolean
      /** How many backup codes are left, if known. */
      readonly backupCodesLeft?: number
      /** When a backup code was last accepted, in milliseconds since 1970, if the service says. */
      readonly backupCodesUsedAt?: number
      /** Whether `{base}/backup/remove` can remove the backup codes. Defaults to false. */
      readonly canRemoveBackup?: boolean
      /** Whether the authenticator app should be set up again, because its imported secret is short. Defaults to false. */
      readonly weakApp?: boolean
      /** Whether an authenticator app can be set up here. Defaults to true. */
      readonly enroll?: boolean
      /** The host's page on which the user adds a phone number or mailbox. */
      readonly addUrl?: string
      /** Whether there is a page for security keys and passkeys, `{base}/keys`. Defaults to false. */
      readonly keys?: boolean
      /** Each key of the user, in place of the factors by key. Absent if the service could not list them. */
      readonly listedKeys?: readonly KeyView[]
      /** Whether there is a page for trusted devices. Defaults to false. */
      readonly devices?: boolean
    }
  /** Before a factor is removed by `{base}/enroll-app/remove` or `{base}/backup/remove`. `others`: those left. */
  | {
      readonly page: 'remove'
      readonly factor: 'app' | 'backup'
      readonly others: readonly FactorView[]
      readonly revokesDevices: boolean
    }
  /** A form that was interrupted by the second factor. Shows `entries` and posts `fields` to `action` when the user sends it. */
  | {
      readonly page: 'resume'
      /** The subject of the form, in the language of the page. Defaults to our own title. */
      readonly title?: string
      readonly action: string
      readonly fields: Readonly<Record<string, string>>
      readonly entries: readonly ResumeEntry[]
      /** The action that the user has approved, if that was needed. `sends`: the script sends the form by itself, once. */
      readonly approved?: readonly DetailLine[]
      readonly sends?: boolean
    }
  /** The trusted browsers. Posts `device` to `{base}/devices/revoke`, or an empty form to `{base}/devices/revoke-all`. */
  | { readonly page: 'devices'; readonly devices: readonly DeviceView[] }
  /** The page of a "this wasn't me" link. Posts `token` to `{base}/not-me`. */
  | { readonly page: 'not-me'; readonly token: string }
  /** All sessions of the account were ended. */
  | { readonly page: 'secured' }
  /** The form for the bypass code that staff hand over. It posts `code` and `factor`, which is `bypass`, to `{base}/verify`. */
  | { readonly page: 'bypass' }
  /** The page before a recovery is requested. It posts to `{base}/recover`, unless no weaker factor makes it possible. */
  | {
      readonly page: 'recover'
      readonly waitMs: number
      /** The masked contacts that will be notified. */
      readonly contacts: readonly string[]
      readonly isPossible: boolean
    }
  /** The pending recovery. It posts to `{base}/recover/cancel` and, when it is ready, to `{base}/recover/complete`. */
  | {
      readonly page: 'recovery'
      /** When it can be completed, in milliseconds since 1970. */
      readonly readyAt: number
      readonly ready: boolean
      /** The masked contacts that are notified. */
      readonly contacts: readonly string[]
      /** The masked contacts that could not be notified, so that the wait is twice as long. Defaults to none. */
      readonly unreached?: readonly string[]
    }
  /** The page of the link that cancels a recovery. It posts `token` to `{base}/cancel-recovery`. */
  | { readonly page: 'cancel-recovery'; readonly token: string }
  /** The recovery was canceled by the link in a notice. */
  | { readonly page: 'recovery-canceled' }
  /** The user cannot continue here: the account is locked, the service is down, the pending login has ended … */
  | {
      readonly page: 'stop'
      readonly message: Exclude<PageMessage, { tone: 'note' }>
      /** `own-account`: a form that posts to `{base}/cancel`. Where it is absent and the page has no other way on, it is `home`. */
      readonly next?: 'sign-in' | 'retry' | 'home' | 'own-account'
      /** Whether the service failed where no code was typed. Defaults to false. */
      readonly unasked?: boolean
      /** Whether the address of the page before the sign-in was too long to be kept. Defaults to false. */
      readonly isPageLost?: boolean
    }

/** One of these pages. */
export type ViewOf<Name extends View['page']> = Extract<View, { page: Name }>

/** Renders a view to an HTML document. */
export type RenderView = (view: View, frame: PageFrame) => string
