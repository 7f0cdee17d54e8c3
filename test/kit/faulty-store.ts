import { MemoryStore, type SessionData } from 'express-session'
import { findStored } from '../../src/session/product.js'
import type { MfaRecord } from '../../src/session/record.js'
import { readRecord } from '../../src/session/record-text.js'

export type StoreVerb = 'get' | 'set' | 'destroy'

/** A session store that fails when a test tells it to. */
export class FaultyStore extends MemoryStore {
  private readonly faults = new Map<StoreVerb, { skip: number; times: number }>()

  /** The duration of a read. In a slow store, many requests read before the first one writes. */
  readMs = 0

  /** The duration of a write. A response that is sent earlier was sent before the session was stored. */
  writeMs = 0

  /** The verb succeeds `skip` more times, then fails `times` times. */
  failOn(verb: StoreVerb, { skip = 0, times = 1 } = {}): void {
    this.faults.set(verb, { skip, times })
  }

  /** Whether a failure is still pending. */
  willFail(): boolean {
    return this.faults.size > 0
  }

  /** Removes all pending failures. */
  heal(): void {
    this.faults.clear()
  }

  /** The stored sessions as JSON, by session id. */
  get stored(): Record<string, string> {
    return Reflect.get(this, 'sessions') as Record<string, string>
  }

  /** The stored sessions, parsed. */
  get documents(): SessionData[] {
    return Object.values(this.stored).map((text) => JSON.parse(text) as SessionData)
  }

  /** The stored MFA records that are valid for the user and id of their session. */
  get records(): MfaRecord[] {
    return Object.entries(this.stored).flatMap(([sessionId, text]) => {
      const { mfa, passport } = JSON.parse(text) as { mfa?: unknown; passport?: { user?: unknown } }
      const record = readRecord(findStored(mfa, '/mfa'), {
        product: '/mfa',
        sessionId,
        userId: String(passport?.user),
      })
      return record ? [record] : []
    })
  }

  override get(sid: string, done: (error: unknown, session?: SessionData | null) => void): void {
    if (this.fails('get')) return done(new Error('the store does not read'))
    if (this.readMs > 0) setTimeout(() => super.get(sid, done), this.readMs)
    else super.get(sid, done)
  }

  override set(sid: string, session: SessionData, done?: (error?: unknown) => void): void {
    if (this.fails('set')) return done?.(new Error('the store does not write'))
    if (this.writeMs === 0) return super.set(sid, session, done)
    // Serialized at once, since the session can change before the write ends.
    const taken = JSON.parse(JSON.stringify(session)) as SessionData
    setTimeout(() => super.set(sid, taken, done), this.writeMs)
  }

  override destroy(sid: string, done?: (error?: unknown) => void): void {
    if (this.fails('destroy')) return done?.(new Error('the store does not forget'))
    super.destroy(sid, done)
  }

  private fails(verb: StoreVerb): boolean {
    const fault = this.faults.get(verb)
    if (!fault) return false
    if (fault.skip > 0) {
      fault.skip--
      return false
    }
    if (--fault.times <= 0) this.faults.delete(verb)
    return true
  }
}
