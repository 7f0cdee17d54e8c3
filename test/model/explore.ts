import { INVARIANTS } from './invariants.js'
import { ACTIONS, type Action, type Rule, START, type State, step } from './model.js'

/** A state with a shortest way to it, and what can happen in it. If an edge `turns`, it leads to the mirror image of a state. */
interface Reached {
  readonly state: State
  readonly way: readonly Action[]
  readonly edges: { readonly action: Action; readonly to: string; readonly turns: boolean }[]
}

/** A sample of what can happen, with every action in it. */
const STORIES = [
  '0 sign in as ana > 0 email > 1 sign in as ana > 1 email > 0 code of the other browser > 0 own code twice at once > 1 own code, evaluated twice',
  '0 sign in as ana > 0 app code > 0 step-up > 0 act > 0 step-up > 0 stop > minutes > 0 step-up > 0 act',
  '0 sign in as ana > 0 app code, trusting > 0 log out > 0 sign in as ben > 0 sign in as ana > 0 used app code > 1 sign in as ana > 1 backup code > 1 used backup code',
  '0 sign in as ana > 0 app code > 0 new backup codes > 0 remove > 1 sign in as ana > 1 sms > 1 own code, trusting > 1 log out > 1 sign in as ana > 0 enroll > 0 confirm',
  '0 sign in as ana > 0 sms > 0 own code, answered after logout > 0 sign in as ana > 0 sms > 0 own code, answered after sign-in > 0 email > 0 own code, answered after reset > 0 sign in as ana > 0 app code > 0 bypass code > 0 enroll > 1 sign in as ana > 1 bypass code > 0 confirm > 0 step-up',
  '0 sign in as ana > 0 sms > 0 own code > 0 recover > 0 complete > day > 1 sign in as ana > 1 email > 1 own code > 1 complete > 1 enroll > 1 confirm',
]

/** The walks of the stories. */
export const sample = (): { walk: readonly Action[]; taken?: number }[] =>
  STORIES.map((story) => ({
    walk: story.split(' > ').flatMap((text) => ACTIONS.filter((one) => textOf([one]) === text)),
  }))

/** Actions as they are read: `0 sign in as ana > minutes`. */
export const textOf = (actions: readonly Action[]) =>
  actions.map(({ what, at }) => (at === undefined ? what : `${at} ${what}`)).join(' > ')

/** The same text for the same value, whatever the order of its members. */
const sorted = (part: unknown) =>
  JSON.stringify(part, (_, value) =>
    value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value,
  )

/** The same text for a state and its mirror image. */
const nameOf = ({ browsers, ...rest }: State) => [...browsers.map(sorted).sort(), sorted(rest)].join()

/**
 * Visits, breadth first, every state to which at most `depth` actions lead, with all its edges; the two browsers can be exchanged.
 * `broken` is a rule that does not hold: the search ends where it is noticed.
 */
export function explore(depth: number, broken?: Rule) {
  const reached = new Map<string, Reached>([[nameOf(START), { state: START, way: [], edges: [] }]])
  const violations: { sentence: string; way: readonly Action[] }[] = []
  // Also visits what is added meanwhile.
  for (const [name, { state, way, edges }] of reached) {
    for (const [sentence, { isBroken }] of Object.entries(INVARIANTS))
      if (isBroken(state, broken)) violations.push({ sentence, way })
    if (broken && violations.length > 0) break
    if (way.length >= depth) continue
    const areSame = sorted(state.browsers[0]) === sorted(state.browsers[1])
    for (const action of ACTIONS) {
      const to = areSame && action.at === 1 ? undefined : step(state, action, broken)?.to
      if (!to) continue
      const target = reached.get(nameOf(to)) ?? { state: to, way: [...way, action], edges: [] }
      reached.set(nameOf(to), target)
      const turns = sorted(to.browsers[0]) !== sorted(target.state.browsers[0])
      edges.push({ action, to: nameOf(to), turns })
    }
    // Walks first do what changes nothing.
    edges.sort((one, other) => Number(other.to === name) - Number(one.to === name))
  }
  return { reached, violations }
}

/** Whether so much time has passed since the last reset that something soon ends which lasts for the model: a bypass code, after an hour. */
const isLong = (walk: readonly Action[]) => {
  const since = walk.findLastIndex(({ what }) => what.endsWith('reset'))
  return walk.slice(since + 1).filter(({ what }) => what === 'minutes' || what === 'day').length >= 5
}

/** Walks from the start that together take every edge; `taken` of their steps take one that none has taken before. */
export function* walks(reached: ReadonlyMap<string, Reached>) {
  const open = new Map([...reached].map(([name, { edges }]) => [name, new Set(edges)]))
  const wayToOpen = (from: string) => {
    const ways = new Map<string, Reached['edges']>([[from, []]])
    for (const [name, way] of ways) {
      const [next] = open.get(name) ?? []
      if (next) return [...way, next]
      for (const edge of reached.get(name)?.edges ?? [])
        if (!ways.has(edge.to)) ways.set(edge.to, [...way, edge])
    }
    return undefined
  }
  for (let way = wayToOpen(nameOf(START)); way; way = wayToOpen(nameOf(START))) {
    const walk: Action[] = []
    let [at, isTurned, taken] = [nameOf(START), false, 0]
    for (; way && !isLong(walk); way = wayToOpen(at)) {
      for (const edge of way) {
        const { what, at: place } = edge.action
        walk.push(isTurned && place !== undefined ? { what, at: place === 0 ? 1 : 0 } : edge.action)
        if (open.get(at)?.delete(edge)) taken++
        isTurned = isTurned !== edge.turns
        at = edge.to
      }
    }
    yield { walk, taken }
  }
}
