import type { Request } from 'express'
import * as z from 'zod'
import { digestOf } from '../../digest.js'
import { canonicalJson, isWellFormed } from '../../flows/canonical-json.js'
import { readObject } from '../../json.js'
import type { Settings } from '../../options/settings.js'
import { type AuthorizationDetails, type DetailLine, formatText, oneLine } from '../../protocol/details.js'
import { pickLocale } from '../../protocol/language.js'
import { unfitLine } from '../../protocol/named-lines.js'
import { detailLines } from '../../protocol/wire-parts.js'
import type { RequestedApproval } from '../../session/record.js'
import { sanitizeReturnTo } from '../../session/return-to.js'
import { pickGiven } from '../../shape.js'
import type { RequestContext } from '../actions/context.js'
import type { Problem } from '../http/problem.js'
import { approvalLocales } from '../http/request.js'
import type { BoundRule } from './rule.js'

/** The action that a request asks the user to approve. */
export type BoundRequest = Pick<RequestedApproval, 'digest' | 'details'>

/** The fault in the fields of a request. */
type Faults = NonNullable<Problem['errors']>

const MAX_LENGTH = 200

/**
 * The action that a request asks to approve, or the fault in its texts. The digest covers type, user, method, host name if the app lists
 * several, path as browsers send it, route, path parameters and fields, exactly as sent: the text `250` is not the number `250`.
 * @throws {TypeError} unless the host returns a `type`.
 */
export async function readBoundRequest(
  req: Request,
  userId: string,
  { fields }: BoundRule,
  settings: Settings,
): Promise<BoundRequest | { readonly errors: Faults }> {
  const requested = req.baseUrl + req.path
  // Without a route, as in router.use, the path itself.
  const route = req.baseUrl + String(req.route?.path ?? req.path)
  const read = typeof fields === 'function' ? await fields(req) : readFields(req, fields)
  const details: AuthorizationDetails = { type: `${req.method} ${route}`, ...pickGiven({ ...read }) }
  if (typeof fields === 'function' && typeof read?.type !== 'string')
    throw new TypeError('requireMfa: what bind names has no type.')
  const errors = textFaults(details, [])
  if (errors.length > 0) return { errors }
  const { type, ...members } = details
  // One route may have several paths, in a list or a RegExp.
  const path = sanitizeReturnTo(requested) ?? requested
  const host = findListedHost(req, settings)
  const at = { method: req.method, host, path, route, params: { ...req.params } }
  return { digest: digestOf(canonicalJson({ type, user: userId, ...at, fields: members })), details }
}

/** The requested host name as `urls.hosts` spells it, if that lists several. */
function findListedHost({ hostname = '' }: Request, { urls: { hosts } }: Settings): string | undefined {
  if (hosts.length < 2) return undefined
  const requested = hostname.toLowerCase()
  return hosts.find((host) => host.toLowerCase() === requested) ?? requested
}

function readFields({ body }: Request, names: readonly string[]): Readonly<Record<string, unknown>> {
  const sent = readObject(body)
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(sent, name) ? [[name, sent[name]]] : [])))
}

/** The fault in the fields that a rule names. A function is not called, so a pending login learns nothing but what it sent. */
export function fieldFaults(req: Request, { fields }: BoundRule): Faults {
  if (typeof fields === 'function') return []
  const read = readFields(req, fields)
  const files = listFileNames(req)
  return fields.flatMap((field): Faults => {
    const value = read[field]
    if (files.has(field)) return [{ field, detail: 'must not be a file' }]
    if (value === undefined || value === null) return [{ field, detail: 'is missing' }]
    if (Array.isArray(value)) return [{ field, detail: 'must be given once' }]
    const isScalar = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    if (!isScalar) return [{ field, detail: 'must be a text, a number or a boolean' }]
    return textFaults(value, [field])
  })
}

/** The fields that multer or express-fileupload has read as files. */
function listFileNames(req: Request): ReadonlySet<unknown> {
  const { file, files } = readObject(req)
  const listed = [file, ...(Array.isArray(files) ? files : [])].filter(Boolean)
  const names = listed.map((one) => readObject(one).fieldname)
  return new Set([...names, ...(Array.isArray(files) ? [] : Object.keys(readObject(files)))])
}

/** The texts that are too long or no Unicode, each with its path. */
function textFaults(value: unknown, path: readonly string[]): Faults {
  const field = path.join('.')
  if (typeof value === 'string') {
    if (value.length > MAX_LENGTH) return [{ field, detail: `must be at most ${MAX_LENGTH} characters` }]
    return isWellFormed(value) ? [] : [{ field, detail: 'must be valid Unicode' }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => textFaults(member, [...path, name]))
}

/** Lines of the host as the user is shown them. What consists of invisible characters only is empty then. */
const shownLines = z
  .array(z.object({ label: z.string().transform(oneLine), value: z.string().transform(formatText) }))
  .pipe(detailLines)

/** A request with the lines that the user is shown of it, cleaned (R123), in the language of the user (R146). */
export interface ShownRequest extends BoundRequest {
  readonly lines: DetailLine[]
}

/** The lines that the user is asked to approve. @throws {TypeError} when that is not one to four lines. */
export function describeRequest(
  { deps: { settings }, state }: Pick<RequestContext, 'deps' | 'state'>,
  asked: BoundRequest,
  { text }: BoundRule,
): ShownRequest {
  const locale = pickLocale(approvalLocales(state.user, settings), settings.languages.texts)
  const lines = shownLines.safeParse(text(asked.details, locale))
  if (lines.success) return { ...asked, lines: lines.data }
  throw new TypeError('requireMfa: what is bound is not shown in one to four lines: give bindText.')
}

/** The field that does not fit into a text message, by its name, or else as it is shown. */
export function unfitFields({ details, lines }: ShownRequest): Faults {
  const line = unfitLine(lines)
  const [name] = Object.entries(details).find(([, value]) => formatText(String(value)) === line?.value) ?? []
  return [{ field: name ?? line?.label ?? '', detail: 'does not fit into a text message' }]
}
