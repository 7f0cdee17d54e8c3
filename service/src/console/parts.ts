import type { MfaService } from 'countersign'
import type { Routes } from '../carriers/route.js'
import type { Logger } from '../log/logger.js'
import type { RequestObserver } from '../metrics/request-metrics.js'
import type { Operator } from '../operator/operator.js'
import type { Keys } from '../secrets/keys.js'
import type { Store } from '../store/store.js'

/** What the console is built from. */
export interface ConsoleParts {
  readonly store: Store
  readonly keys: Keys
  readonly log: Logger
  readonly observe: RequestObserver
  /** Everything that an operator can do, under a name that appears in the audit log. */
  readonly operator: (name: string) => Operator
  /** Whether changes to users' factors and to operators need the approval of a second operator. */
  readonly fourEyes: boolean
  /** The service in this process, for the application whose users are the operators. */
  readonly mfa: MfaService
  /** The addresses of proxies whose headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** What the doctor knows of the service's options. */
  readonly doctor: {
    readonly hasOptionKey: boolean
    readonly homeCountry: string | undefined
    readonly routes: Routes
  }
  /** Whether messages of live keys are delivered to the development inbox. */
  readonly usesInbox: boolean
  /** The public address of the console, if the operator configured one. */
  readonly url: string | undefined
  /** The public address of the API, if the operator configured one. */
  readonly publicUrl: string | undefined
  /** What runs. */
  readonly info: { readonly version: string; readonly store: string; readonly carriers: string }
}
