import type { ApplicationDefaults } from '../accounts/applications/settings.js'
import type { Keys } from '../store/secrets/keys.js'
import type { Queries, Store } from '../store/store.js'

/** A change, as it is written to the audit log. Without an application, it is one of the whole service. */
export interface NewAuditEntry {
  readonly application?: string
  /** In dotted words: `key.revoked`. */
  readonly action: string
  /** Further details, without secrets and full contacts. */
  readonly detail: string
}

/** Makes a change and records it in one transaction. `work` says with `record` what was changed, or `undefined` if nothing was. */
export async function changeWithAudit<T>(
  actor: Actor,
  work: (tx: Queries, record: (entry: NewAuditEntry | undefined) => void) => Promise<T>,
): Promise<T> {
  let changed: string | undefined
  const result = await actor.store.transaction(async (tx) => {
    const entries: (NewAuditEntry | undefined)[] = []
    const made = await work(tx, (entry) => void entries.push(entry))
    if (entries.length !== 1) throw new Error('A change is recorded once.')
    const [entry] = entries
    if (!entry) return made
    await writeAudit(tx, actor.name, entry)
    changed = entry.application
    return made
  })
  // Only after the commit does reading the application again show the change.
  if (changed) actor.onApplicationChanged(changed)
  return result
}

/** Writes a change to the audit log under the name of the operator who made it. */
export async function writeAudit(tx: Queries, who: string, entry: NewAuditEntry): Promise<void> {
  const { application = '', action, detail } = entry
  const values = [application, Date.now(), who, action, detail]
  await tx.query(
    'INSERT INTO audit (application, at, who, action, detail) VALUES ($1, $2, $3, $4, $5)',
    values,
  )
}

/** The operator who makes changes, at a command line or in a process of their own. */
export interface Actor {
  /** The store that is changed. */
  readonly store: Store
  /** The operator's name in the audit log. */
  readonly name: string
  /** The operator who asked for the change, if this one consents. Links and roles then relate to the one who asked. */
  readonly asker?: string | undefined
  /** The country whose phone numbers a new application serves, unless its settings say otherwise. */
  readonly homeCountry?: string | undefined
  /** The values of the application `default` that its settings leave open; absent if this process does not know them. */
  readonly defaults?: ApplicationDefaults | undefined
  /** The keys of the service. Throws an `OperatorError` when they are not configured. */
  keys(): Keys
  /**
   * Whether factors are disabled, keys removed, users erased and factors imported only with the consent of a second operator, and operators invited,
   * reset and given roles only with that of a second administrator, if there is one. Defaults to `false`.
   */
  readonly fourEyes?: boolean | undefined
  /** Is called after a change to an application, so that this process reads the application again. */
  onApplicationChanged(application: string): void
}

/** These functions as methods, for an operator who acts. */
export type Bound<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    actor: Actor,
    ...given: infer Given
  ) => infer Result
    ? (...given: Given) => Result
    : never
}

/** Lets functions act as an operator. */
export function bound<Functions extends Record<string, (actor: Actor, ...given: never[]) => unknown>>(
  functions: Functions,
  actor: Actor,
): Bound<Functions> {
  const methods = Object.entries(functions).map(([name, act]) => [
    name,
    (...given: never[]) => act(actor, ...given),
  ])
  return Object.fromEntries(methods)
}

/** An operator requested something that is impossible. The message lists every fault with its remedy. */
export class OperatorError extends Error {
  /** Identifies the error for programs. */
  readonly code = 'ERR_SERVICE_OPERATOR'
  /** The faults, one sentence per fault. */
  readonly faults: readonly string[]

  constructor(...faults: string[]) {
    super(faults.join('\n'))
    this.name = 'OperatorError'
    this.faults = faults
  }
}
