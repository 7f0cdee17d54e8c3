import { readFileSync } from 'node:fs'
import { tryTo } from '../try-to.js'

/** Loading the program opens up to 160 files at once. */
const LEAST_FILES = 256
/** Below this, a warning at the start says so. */
const USUAL_FILES = 1_024
/** How many files are kept for what the service itself opens: the database, carriers, recordings. */
const MOST_KEPT = 256

/** How many files and connections this process may have open; `undefined` where the system does not say. */
function fileLimit(): number | undefined {
  const limits = tryTo(() => readFileSync('/proc/self/limits', 'utf8')) ?? ''
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Number(soft)
}

/** The files that this process may have open, and what that means for it. */
export interface FileLimit {
  readonly fault?: string
  readonly warning?: string
  /** How many connections of clients it may accept. */
  readonly connections?: number
}

/** Reads the limit of this process. Node.js has raised it to what the system allows. */
export function readFileLimit(limit = fileLimit()): FileLimit {
  if (limit === undefined) return {}
  const advice =
    'Raise the limit: LimitNOFILE= of systemd, --ulimit nofile= of a container, `ulimit -n` of a shell.'
  if (limit < LEAST_FILES) {
    return {
      fault: `This process may open ${limit} files and connections, but the service needs at least ${LEAST_FILES}. ${advice}`,
    }
  }
  const connections = limit - Math.min(Math.floor(limit / 4), MOST_KEPT)
  if (limit >= USUAL_FILES) return { connections }
  const warning = `This process may open only ${limit} files and connections, so it accepts at most ${connections} connections at a time. ${advice}`
  return { connections, warning }
}
