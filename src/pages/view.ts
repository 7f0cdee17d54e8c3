import type { Method } from '../protocol/methods.js'

/** One way to prove oneself, as a page shows it. */
export interface FactorView {
  readonly id: string
  readonly method: Method
  /** Masked contact; for an authenticator app, of the account it belongs to. */
  readonly to: string
  /** The host's own name for it, if it gave one. */
  readonly label?: string
}

/** A code that is under way, as a page shows it. Times are milliseconds since 1970. */
export interface ChallengeView {
  readonly factor: FactorView
  /** `refused`: the service says by now that it could not be delivered. */
  readonly delivery: 'sent' | 'queued' | 'none' | 'refused'
  /** While it is queued: `{base}/verify` tells in JSON what becomes of it, and the page may ask. */
  readonly follow?: boolean
  readonly expiresAt: number
  /** Absent when nothing was sent (authenticator app). */
  readonly resendAt?: number
}

/** A trusted browser, as a page shows it. Times are milliseconds since 1970. */
export interface DeviceView {
  readonly id: string
  readonly browser?: string
  readonly system?: string
  /** Where it was trusted, in the host's words. */
  readonly location?: string
  readonly lastUsedAt: number
  readonly expiresAt: number
  /** Whether this page is shown in it. */
  readonly current: boolean
}

/** Something that was typed into an interrupted form, as people check it. */
export interface ResumeEntry {
  readonly label: string
  /** Absent when it looks like a secret, which no page shows. */
  readonly value?: string
}

/** Every `code` a problem answer or a page can carry. */
export type ProblemCode =
  | import('../flows/refusal.js').RefusalCode
  | 'invalid_request'
  | 'cross_site'
  | 'not_found'
  | 'unknown_device'
  | 'unknown_link'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'service_unavailable'
  | 'delivery_unavailable'
  | 'service_misconfigured'
  | 'internal_error'

/** What a page can tell that went well. */
export type SuccessCode =
  | 'code_sent'
  | 'code_sent_again'
  | 'code_queued'
  | 'device_revoked'
  | 'devices_revoked'

/** Something to tell above the form. */
export type PageMessage =
  | {
      readonly tone: 'error'
      readonly code: ProblemCode
      readonly attemptsLeft?: number
      /** The app made the code so many steps of 30 s ago, as a negative number. */
      readonly clockSteps?: number
      readonly retryAfterSeconds?: number
    }
  | { readonly tone: 'success'; readonly code: SuccessCode }

/** What every page knows. */
export interface PageFrame {
  /** BCP 47 tags the browser or the host asks for, best first. */
  readonly locales: readonly string[]
  readonly appName: string
  /** Where the routers are mounted, e.g. `/mfa`; forms post below it. */
  readonly base: string
  readonly signInPath: string
  /** Where "back" leads when nothing else is known. */
  readonly homePath: string
  readonly purpose: 'sign-in' | 'step-up' | 'manage'
  /** End of the half-login in milliseconds since 1970; only while the second factor is missing. */
  readonly pendingLoginEndsAt?: number
  /** The server's time, so that the countdowns do not depend on the browser's clock. */
  readonly now: number
  readonly message?: PageMessage
  /** The languages to choose from, as BCP 47 tags: posts `language` and `back`, where the page is, to `{base}/language`. */
  readonly languages?: { readonly offer: readonly string[]; readonly back: string }
  /** The host's own words for somebody who cannot confirm in any way; shown where the other ways are. */
  readonly help?: string
  /** The host's style sheet, linked after ours; sets the custom properties of `mfa.css`. */
  readonly stylesheet?: string
}

/** One page, as data. A host that replaces a page gets exactly this. */
export type View =
  /** Which factor? Each is a button of a form that posts `factor` to `{base}/challenge`. */
  | {
      readonly page: 'choose'
      readonly factors: readonly FactorView[]
      readonly preferred?: string
      readonly backup: boolean
    }
  /** The code entry: posts `code` and `factor` to `{base}/verify`. `factor` is `backup` for a backup code. */
  | {
      readonly page: 'code'
      readonly factor: FactorView | 'backup'
      readonly challenge?: ChallengeView
      /** The challenge takes no more codes; only a new one helps. */
      readonly exhausted: boolean
      readonly others: readonly FactorView[]
      readonly backup: boolean
      /** How many digits a code has: the form sends itself when they are there. Defaults to 6; 0 waits for the button. */
      readonly digits?: number
      /** The browser may be trusted: a box that posts `trust`. `ticked` when it was before a wrong code. */
      readonly trust?: { readonly forMs: number; readonly ticked: boolean }
    }
  /** Before setting up an authenticator app: posts to `{base}/enroll-app`. */
  | { readonly page: 'enroll-start'; readonly replaces: boolean }
  /** The QR code; posts `code` to `{base}/enroll-app/confirm`. Shown once. */
  | {
      readonly page: 'enroll'
      readonly qr?: string
      readonly uri?: string
      readonly secret?: string
      /** As on the code entry. */
      readonly digits?: number
    }
  | { readonly page: 'enrolled'; readonly backup: boolean }
  /** Before sending backup codes: posts to `{base}/backup`. Without `to` there is nowhere to send them. */
  | { readonly page: 'backup'; readonly to?: string }
  /** Where they went; leads on to `next`, else home. */
  | { readonly page: 'backup-sent'; readonly to: string; readonly count?: number; readonly next?: string }
  /** Signed in by one of the last backup codes: leads to `{base}/backup` for new ones, or on to `next`. */
  | { readonly page: 'backup-codes-left'; readonly left: number; readonly next: string }
  /** Signed in, nothing to ask: what can be managed here. */
  | {
      readonly page: 'overview'
      readonly factors: readonly FactorView[]
      readonly backup: boolean
      /** How many backup codes are left, if that is known. */
      readonly backupCodesLeft?: number
      /** Whether an authenticator app can be set up here. Defaults to true. */
      readonly enroll?: boolean
      /** Whether there is a page of trusted devices. Defaults to false. */
      readonly devices?: boolean
    }
  /**
   * What was interrupted for a second factor: shows `entries`, and posts `fields` to `action` when the person confirms.
   */
  | {
      readonly page: 'resume'
      readonly action: string
      readonly fields: Readonly<Record<string, string>>
      readonly entries: readonly ResumeEntry[]
    }
  /** The trusted browsers: posts `device` to `{base}/devices/revoke`, or nothing to `{base}/devices/revoke-all`. */
  | { readonly page: 'devices'; readonly devices: readonly DeviceView[] }
  /** Whoever came by the link of a message is asked: posts `token` to `{base}/not-me`. */
  | { readonly page: 'not-me'; readonly token: string }
  /** Everything in the account was ended. */
  | { readonly page: 'secured' }
  /** Nothing can go on here: locked, service down, half-login over, … The message says what happened. */
  | { readonly page: 'stop'; readonly message: PageMessage; readonly next?: 'sign-in' | 'retry' | 'home' }

/** Renders a view to a whole HTML document. */
export type RenderView = (view: View, frame: PageFrame) => string
