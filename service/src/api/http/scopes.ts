import { API_KEY_INFO, type Scope } from 'countersign/protocol'
import { jobWire, streamWire } from 'countersign/speech'
import { VERB_FLOWS } from '../../flows/verb-flows.js'
import type { ProblemDetails } from './problem.js'

/** The scopes of the routes that belong to no verb, by path. */
const OTHER_ROUTES: Readonly<Record<string, Scope>> = {
  '/v1/users': 'personal-data',
  '/v1/users/export': 'personal-data',
  '/v1/users/erase': 'personal-data',
  // The inbox has the codes that another key sent.
  '/v1/test/inbox': 'verify',
  '/v1/transcribe': 'transcribe',
  [jobWire.JOBS_PATH]: 'transcribe',
  [`${jobWire.JOBS_PATH}/{id}`]: 'transcribe',
  [streamWire.TICKETS_PATH]: 'transcribe',
  [streamWire.STREAM_PATH]: 'transcribe',
}

const SCOPES = new Map([
  ...VERB_FLOWS.map(({ verb }) => [verb.path, verb.scope] as const),
  ...Object.entries(OTHER_ROUTES),
])

/** The scope that an API key needs for a path; `undefined` for `/v1/key`, which every key may read. Throws for a path that has none. */
export function findScope(path: string): Scope | undefined {
  const scope = SCOPES.get(path)
  if (scope === undefined && path !== API_KEY_INFO) throw new Error(`The route ${path} has no scope.`)
  return scope
}

/** The details of the problem `missing_scope`. */
export function missingScope(scope: Scope): ProblemDetails {
  return { scope, detail: `This API key lacks the scope "${scope}".` }
}
