import type { Settings } from '../settings.js'

/** What this room is given: built once from the options. */
export interface SessionDeps {
  readonly settings: Settings
}
