import type { Request } from 'express'
import type { MfaEventBody } from '../flows/events.js'
import type { Settings } from '../settings.js'
import type { Cutoffs } from '../trust/cutoffs.js'
import type { TrustedBrowsers } from './trusted-browsers.js'

/** What this room is given: built once from the options. */
export interface SessionDeps {
  readonly settings: Settings
  /** Tells the host what happened. */
  tell(event: MfaEventBody): void
  /** Words for somebody whose grace period runs, in their language. */
  banner(req: Request, graceUntil: number): string
  /** Only when the app asked for trusted devices. */
  readonly browsers?: TrustedBrowsers | undefined
  /** Only when there are links by which somebody can end everything. */
  readonly cutoffs?: Cutoffs | undefined
}
