import { isObject, readObject } from '../json.js'
import type { Settings } from '../options/settings.js'
import { DEFAULT_USERS, isOnlyProduct, productName } from '../products.js'
import type { MfaRecord, RecordOwner } from './record.js'
import { isOwnedBy, isPendingRecord, readParts, readRecord, writeNamed, writeRecord } from './record-text.js'

/*
 * The record that a session keeps for each product (R142). `req.session.mfa` is the record of one product with its name, and has the records of
 * all others by their names:
 *
 *   { "record": "2v …", "product": "/mfa", "others": { "/admin/mfa": "2p …", "staff /desk/mfa": { "record": "2v …", … } } }
 *
 * One record with nothing beside it is `@/mfa 2v …`. A record without a name was written by an earlier release.
 */

/** The name under which sessions keep what a product decided: its own, after that of its table of users, which has no space (R144). */
export function nameProduct(settings: Pick<Settings, 'product' | 'users' | 'urls'>): string {
  const { users } = settings
  return users === DEFAULT_USERS ? productName(settings) : `${users} ${productName(settings)}`
}

/** Whether two products have the same table of users. */
export function haveSameUsers(product: string, other: string): boolean {
  return getUsers(product) === getUsers(other)
}

function getUsers(product: string): string {
  return product.slice(0, Math.max(0, product.indexOf(' ')))
}

/** The product of an app that names neither a product nor a path. */
const DEFAULT_PRODUCT = '/mfa'

/** Stands for the name of a record that has none. */
const UNNAMED = ''

/** Whether a record without a name counts for a product. Where there are several, it could be the decision of a more lenient one. */
function ownsUnnamed(product: string): boolean {
  return product === DEFAULT_PRODUCT || (product.startsWith('/') && isOnlyProduct())
}

/** The stored record of a product. */
export function findStored(mfa: unknown, product: string): unknown {
  const parts = readParts(mfa)
  const { product: first = UNNAMED } = parts
  const own = isObject(mfa) ? mfa : parts.record
  if (first === product) return own
  const others = readObject(parts.others)
  const stored = others[product]
  if (stored !== undefined || !ownsUnnamed(product)) return stored
  return first === UNNAMED ? own : others[UNNAMED]
}

/** The stored records of this user in this session by their products, the first one first. */
function listStored(mfa: unknown, owner: RecordOwner): Map<string, unknown> {
  const { product = UNNAMED, others, user: _, ...first } = readParts(mfa)
  const all: [string, unknown][] = [[String(product), first], ...Object.entries(readObject(others))]
  const records = new Map(all.filter(([, stored]) => isOwnedBy(stored, owner)))
  const unnamed = records.get(UNNAMED)
  if (unnamed === undefined || !ownsUnnamed(owner.product)) return records
  return new Map([[owner.product, unnamed], ...[...records].filter(([name]) => name !== UNNAMED)])
}

/** The records of this user in this session that other products have written. */
export function listOtherRecords(mfa: unknown, owner: RecordOwner): MfaRecord[] {
  return [...listStored(mfa, owner)].flatMap(([product, stored]) => {
    const record = product === owner.product ? undefined : readRecord(stored, { ...owner, product })
    return record ? [record] : []
  })
}

/** The content of a session once a product has written its record, without the records of other users and sessions. */
export function addRecord(mfa: unknown, record: MfaRecord): string | object {
  const records = listStored(mfa, record).set(record.product, writeRecord(record))
  const [[product, first] = [record.product, undefined], ...others] = records
  const alone = others.length === 0 && product !== UNNAMED ? writeNamed(product, first) : undefined
  return (
    alone ?? {
      ...readParts(first),
      ...(product !== UNNAMED && { product }),
      ...(others.length > 0 && { others: Object.fromEntries(others) }),
    }
  )
}

/** Whether a product admits the user of a record in its session: the login is not pending there. */
export function isAdmitted(mfa: unknown, record: MfaRecord): boolean {
  return [...listStored(mfa, record).values()].some((stored) => !isPendingRecord(stored))
}
