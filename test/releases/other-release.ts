import { MemoryStore, type SessionData } from 'express-session'
import { listen } from '../../service/test/kit.js'
import { readParts } from '../../src/session/record-text.js'
import type { CounterStore, ItemStore } from '../../src/stores/store.js'
import type { Differences } from './app.js'

/*
 * A release that differs from this one in what it stores and sends: a later one, whose objects have a member that this one does not
 * know, or an earlier one, whose objects lack a member that they need not have.
 */

/** How another release writes an object. */
type Change = (members: Record<string, unknown>) => Record<string, unknown>

const LATER: Change = (members) => ({ ...members, later: 'later' })

/** The members that this release writes and can do without. */
const OPTIONAL = ['browser', 'system', 'place', 'reports', 'resend_in', 'delivery_reports', 'detail']

const EARLIER: Change = (members) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !OPTIONAL.includes(name)))

/** A member that belongs to the host or to a standard, and is passed on as it is. */
const FOREIGN = ['user', 'fields', 'labels', 'title', 'details', 'options', 'response']

function changed(value: unknown, change: Change): unknown {
  if (Array.isArray(value)) return value.map((one) => changed(one, change))
  if (typeof value !== 'object' || value === null) return value
  return change(
    Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, FOREIGN.includes(name) ? one : changed(one, change)]),
    ),
  )
}

/** JSON objects in a text; any other text stays as it is. */
function changedText(text: string, change: Change): string {
  return text.startsWith('{') ? JSON.stringify(changed(JSON.parse(text), change)) : text
}

/** A session store on the same sessions, into which another release writes. */
class OtherSessions extends MemoryStore {
  private readonly change: Change

  constructor(shared: MemoryStore, change: Change) {
    super()
    this.change = change
    Reflect.set(this, 'sessions', Reflect.get(shared, 'sessions'))
  }

  override set(sid: string, session: SessionData, done?: (error?: unknown) => void): void {
    const { mfa, ...others } = { ...session } as SessionData & { mfa?: unknown }
    // Where it keeps nothing but the text, a member more makes an object of it.
    const written = mfa === undefined ? {} : { mfa: changed(readParts(mfa), this.change) }
    super.set(sid, { ...others, ...written } as SessionData, done)
  }
}

function otherItems(items: ItemStore, change: Change): ItemStore {
  return {
    ...items,
    add: (owner, item) => items.add(owner, { ...item, value: changedText(item.value, change) }),
    put: (owner, item) => items.put(owner, { ...item, value: changedText(item.value, change) }),
    swap: (owner, id, before, value) => items.swap(owner, id, before, changedText(value, change)),
  }
}

/** Counters are members, too: a later release has one more of them. */
function otherCounters(counters: CounterStore, change: Change): CounterStore {
  const withOneMore = (text: string, lifeMs: number) => {
    const { later, ...kept } = change(JSON.parse(text))
    return JSON.stringify(later === undefined ? kept : { ...kept, 'later c': [1, Date.now() + lifeMs] })
  }
  return {
    read: (key) => counters.read(key),
    replace: (key, before, after, lifeMs) =>
      counters.replace(key, before, withOneMore(after, lifeMs), lifeMs),
  }
}

/** Passes requests on to a service, and responses back: between a plugin and a service of two releases. */
async function between(url: string, change: Change) {
  return listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = new URLSearchParams(Buffer.concat(chunks).toString())
    if (chunks.length > 0 && change === LATER) body.set('Later', 'later')
    const answer = await fetch(url + request.url, {
      method: request.method ?? 'GET',
      headers: passedOn(Object.entries(request.headers)),
      ...(chunks.length > 0 && { body }),
    })
    const text = changedText(await answer.text(), change)
    response.writeHead(answer.status, passedOn([...answer.headers])).end(text)
  })
}

/** Without the headers that belong to one connection, or to the length of a body. */
function passedOn(headers: readonly (readonly [string, unknown])[]): Record<string, string> {
  const own = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect']
  return Object.fromEntries(
    headers.flatMap(([name, value]) => (own.includes(name) ? [] : [[name, String(value)]])),
  )
}

/** The two neighbors of this release. */
export const OTHER_RELEASES: Readonly<Record<string, (sessions: MemoryStore) => Required<Differences>>> = {
  'one field more': differing(LATER),
  'one field less': differing(EARLIER),
}

function differing(change: Change) {
  return (sessions: MemoryStore): Required<Differences> => ({
    reach: (url) => between(url, change),
    sessions: new OtherSessions(sessions, change),
    place: (place) => ({
      ...place,
      counters: otherCounters(place.counters as CounterStore, change),
      items: otherItems(place.items as ItemStore, change),
    }),
  })
}
