import type { Queries, Store } from '../store/store.js'

/** Where an operator works: at a command line, later at a page. */
export interface Desk {
  readonly store: Store
  /** Who the operator is, for the audit log. */
  readonly as: string
  /** Hears that something about an application was changed, so that this process stops believing what it knew. */
  changed(application: string): void
}

/** What the audit log says of one change. An empty application means the service as a whole. */
export interface Deed {
  readonly application: string
  /** In dotted words: `key.revoked`. */
  readonly action: string
  /** What else there is to know. No secret, no contact in full. */
  readonly detail: string
}

/** Makes a change and writes it down, both or neither; `deed` may depend on what `work` found. */
export async function change<T>(
  desk: Desk,
  work: (tx: Queries) => Promise<T>,
  deed: (result: T) => Deed | undefined,
): Promise<T> {
  let about: Deed | undefined
  const result = await desk.store.transaction(async (tx) => {
    const made = await work(tx)
    about = deed(made)
    if (about) await note(tx, desk.as, about)
    return made
  })
  // Only now do others see it, so only now is it time to look again.
  if (about?.application) desk.changed(about.application)
  return result
}

async function note(tx: Queries, who: string, { application, action, detail }: Deed): Promise<void> {
  await tx.query('INSERT INTO audit (application, at, who, action, detail) VALUES ($1, $2, $3, $4, $5)', [
    application,
    Date.now(),
    who,
    action,
    detail,
  ])
}
