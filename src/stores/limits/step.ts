import * as z from 'zod'
import { digestOf, storableName } from '../../digest.js'

/** Counters by name, each a count and when it ends, in milliseconds since 1970. */
export type Kept = Map<string, Counter>

/** How the name of a group ends. The name of a counter never does: see `counterName`. */
const GROUP = ' *'

type Counter = readonly [count: number, endsAt: number]

/** All counters below a name, whose counts are added: `failed *` stands for `failed c 1`, `failed c 2` and so on. */
export const group = (name: string) => `${name}${GROUP}`

/** The condition of a counter, or of a group of counters, before a step. */
interface Requirement {
  readonly counter: string
  readonly from?: number
  /** The count must be lower than this. */
  readonly below?: number
}

/** How a step changes a counter, from the counts before the step. A count of 0 or less removes it. */
interface Change {
  /** Its name; a group can only be removed. */
  readonly counter: string
  /** The new count. Without it, the count changes by `add` and by the counts of the group `minus`. */
  readonly set?: number
  readonly add?: number
  readonly minus?: string
  /** Lifetimes in milliseconds for a new, set or restarted counter. The count of `nth` picks the entry; the last one repeats. */
  readonly livesMs?: readonly number[]
  readonly nth?: string
  /** Whether its time begins again with each change. */
  readonly restarts?: true
  /** The change is made only when this counter or group is at least `atLeast`. */
  readonly when?: string
  readonly atLeast?: number
}

/** The conditions of a step on the counters of an account, or of one of its transactions, and its changes to them. */
export interface Update {
  /** The transaction, or another part of the account with counters of its own; absent for the account itself. */
  readonly transaction?: string
  readonly requires?: readonly Requirement[]
  readonly changes?: readonly Change[]
  /** Takes the changes back. Required of every update that comes before one with requirements. */
  readonly undo?: readonly Change[]
}

/** The counters of an account or a transaction, after a step or when they were read. */
export interface Counters {
  /** The count of a counter or a group; 0 when it is not there or its time is over. */
  count(name: string): number
  /** Milliseconds until a counter ends, or the last of a group; 0 when there is none. */
  msLeft(name: string): number
}

/** The result of a step: whether all requirements held, and the counters of each update. */
export interface StepResult {
  readonly isPermitted: boolean
  readonly counters: readonly Counters[]
}

/** Keeps the counters of accounts. Each step is one atomic operation for all processes that share the store. */
export interface StepStore {
  /** Makes the changes of all updates if all their requirements hold. Updates of transactions come first. */
  run(account: string, updates: readonly Update[]): Promise<StepResult>
  /** Reads the counters of the account, then those of these transactions, and changes nothing. */
  read(account: string, transactions: readonly string[]): Promise<readonly Counters[]>
}

/** The counters at this time. */
export function createCounters(kept: Kept, now: number): Counters {
  return {
    count: (name) => countOf(kept, name, now),
    msLeft: (name) => Math.max(0, lastEnd(listMembers(kept, name)) - now),
  }
}

/** The counters that an update leaves, without those whose time is over, or `undefined` if a requirement does not hold. */
export function applyUpdate(
  kept: Kept,
  { requires = [], changes = [] }: Update,
  now: number,
): Kept | undefined {
  const count = (name: string) => countOf(kept, name, now)
  const holds = ({ counter, from = 0, below = Number.POSITIVE_INFINITY }: Requirement) => {
    const found = count(counter)
    return found >= from && found < below
  }
  if (!requires.every(holds)) return undefined
  const after: Kept = new Map()
  for (const [name, counter] of kept) if (counter[1] > now) after.set(name, counter)
  for (const { counter, set, add = 0, minus, livesMs = [], nth, restarts, when, atLeast = 1 } of changes) {
    if (when !== undefined && count(when) < atLeast) continue
    if (isGroup(counter)) {
      for (const name of after.keys()) if (isIn(name, counter)) after.delete(name)
      continue
    }
    const next = (set ?? count(counter) + add) - (minus === undefined ? 0 : count(minus))
    const begins = set !== undefined || restarts || !after.has(counter)
    const lifeMs = livesMs[Math.min(nth === undefined ? 0 : count(nth), livesMs.length - 1)] ?? 0
    const endsAt = begins ? now + lifeMs : (kept.get(counter)?.[1] ?? now)
    if (next > 0) after.set(counter, [next, endsAt])
    else after.delete(counter)
  }
  return after
}

/** The update that takes another one back. */
export function undoing({ transaction, undo = [] }: Update): Update {
  return { ...(transaction !== undefined && { transaction }), changes: undo }
}

function isGroup(name: string): boolean {
  return name.endsWith(GROUP)
}

function isIn(name: string, ofGroup: string): boolean {
  return name.startsWith(ofGroup.slice(0, -1))
}

/** The counters that a name stands for. */
function listMembers(kept: Kept, name: string): Counter[] {
  // Several of them are read at each step, so a single counter is not looked for among all.
  if (isGroup(name)) return [...kept].flatMap(([other, counter]) => (isIn(other, name) ? [counter] : []))
  const counter = kept.get(name)
  return counter ? [counter] : []
}

function countOf(kept: Kept, name: string, now: number): number {
  let sum = 0
  for (const [count, endsAt] of listMembers(kept, name)) if (endsAt > now) sum += count
  return sum
}

/** The time at which the last counter ends. */
export function endOf(kept: Kept): number {
  return lastEnd(kept.values())
}

function lastEnd(counters: Iterable<Counter>): number {
  let end = 0
  for (const [, endsAt] of counters) end = Math.max(end, endsAt)
  return end
}

const keptCounters = z.record(z.string(), z.tuple([z.int(), z.number()]))

/** Reads kept counters from JSON. */
export function parseKept(json: unknown): Kept {
  return new Map(Object.entries(keptCounters.parse(json)))
}

/** Counters as a store keeps them: `{"attempts c":[2,1764000000000]}`. */
export function writeKept(kept: Kept): string {
  return JSON.stringify(Object.fromEntries(kept))
}

const MAX_NAME_LENGTH = 80

/** A name that is part of a key or a counter: printable ASCII without spaces, and more than the star of a group. */
export function counterName(text: string): string {
  return text === '*' ? `#${digestOf(text)}` : storableName(text, MAX_NAME_LENGTH)
}

/** With fewer keys than this, expired ones stay: they take less memory than looking for them takes time. */
const SWEEP_FROM = 1_000

/** Counters in the memory of this process. Ended ones are deleted whenever the number of keys has doubled. */
export function memorySteps(): StepStore {
  const all = new Map<string, Kept>()
  const keyOf = (account: string, transaction?: string) => JSON.stringify([account, transaction])
  let sweepAt = SWEEP_FROM

  const getKept = (key: string): Kept => all.get(key) ?? new Map()
  const sweep = (now: number) => {
    if (all.size < sweepAt) return
    for (const [key, kept] of all) if (endOf(kept) <= now) all.delete(key)
    sweepAt = Math.max(SWEEP_FROM, 2 * all.size)
  }

  return {
    async run(account, updates) {
      const now = Date.now()
      sweep(now)
      const keys = updates.map(({ transaction }) => keyOf(account, transaction))
      const before = keys.map(getKept)
      const after = updates.flatMap(
        (update, index) => applyUpdate(before[index] ?? new Map(), update, now) ?? [],
      )
      const isPermitted = after.length === updates.length
      if (isPermitted) keys.forEach((key, index) => void all.set(key, after[index] ?? new Map()))
      return {
        isPermitted,
        counters: (isPermitted ? after : before).map((kept) => createCounters(kept, now)),
      }
    },
    async read(account, transactions) {
      const now = Date.now()
      return [undefined, ...transactions].map((transaction) =>
        createCounters(getKept(keyOf(account, transaction)), now),
      )
    },
  }
}
