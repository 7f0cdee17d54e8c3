import type { Scope } from 'countersign/protocol'
import type { RelyingPartyOption } from '../accounts/applications/key-settings.js'
import type { Limits } from '../accounts/limits.js'
import type { Routes } from '../messages/carriers/route.js'

/** The areas that the doctor checks, in this order. */
export const SUBJECTS = [
  'settings',
  'carriers',
  'transcription',
  'identity provider',
  'database',
  'migrations',
  'secrets',
  'deliveries',
  'webhooks',
  'API keys',
  'names',
  'countries',
  'traffic',
  'phone check',
  'locked users',
  'security keys',
  'authenticator apps',
] as const

/** The result of one check. */
export interface Diagnostic {
  /**
   * `error`: something does not work. `warning`: it works, but the operator should act. `no data`: nothing happened yet by which it could
   * be judged.
   */
  readonly severity: 'ok' | 'no data' | 'warning' | 'error'
  readonly subject: (typeof SUBJECTS)[number]
  /** The application that it is about, and its setting or its endpoint for events; absent for the whole service. */
  readonly about?: {
    readonly application: string
    /** All of them, where the message names several. */
    readonly applications?: readonly string[]
    readonly setting?: string
    readonly endpoint?: string
  }
  /** The finding, with its numbers, and what to do about a warning or an error. */
  readonly message: string
}

/** Reports on a subject: each function makes a finding of a message, and of what that is about. */
export function reportOn(subject: Diagnostic['subject']) {
  const finding =
    (severity: Diagnostic['severity']) =>
    (message: string, about?: Diagnostic['about']): Diagnostic => ({
      severity,
      subject,
      ...(about && { about }),
      message,
    })
  return {
    ok: finding('ok'),
    noData: finding('no data'),
    warning: finding('warning'),
    error: finding('error'),
  }
}

/** The facts that the doctor knows of the service's options, most of which describe the application `default`. */
export interface DoctorOptions {
  readonly production: boolean
  /** The permissions of the key of the options; absent without one. */
  readonly optionKey?: readonly Scope[] | undefined
  readonly homeCountry?: string | undefined
  readonly applicationName?: string | undefined
  /** The carriers that are configured; without them, the senders of applications are not checked. */
  readonly routes?: Routes | undefined
  readonly relyingParty?: RelyingPartyOption | undefined
  /** The limits of the application `default` where its settings say nothing else. */
  readonly limits?: Limits | undefined
}
