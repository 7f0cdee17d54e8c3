import { INVARIANTS } from './invariants.js'
import { ACTIONS, type Action, type Rule, START, type State, step } from './model.js'

type Edge = { readonly action: Action; readonly to: string }

/** Besides the start, the search begins in every state on the way through a story, so that it gets far with few steps. */
const STORIES = [
  '0 sign in as ana > 0 email > 1 sign in as ana > 1 email',
  '0 sign in as ana > 0 app code > 0 act > minutes',
  '0 sign in as ana > 0 app code, trusting > 0 log out > 0 sign in as ana > minutes > 1 sign in as ana',
  '0 sign in as ana > 0 app code > 0 new backup codes > 1 sign in as ana > 1 backup code',
  '0 sign in as ana > 0 app code > 0 remove > minutes > 1 sign in as ana > 1 sms > 1 own code',
  'reset > 0 sign in as ana > 0 bypass code > 0 enroll > 1 sign in as ana > 0 confirm',
  '0 sign in as ana > 0 sms > 0 own code > 0 recover > day > 1 sign in as ana > 1 email > 1 own code > 1 complete > 1 enroll > 1 confirm',
]

/** Actions as they are read: `0 sign in as ana > minutes`. */
export const textOf = (actions: readonly Action[]) =>
  actions.map(({ what, at }) => (at === undefined ? what : `${at} ${what}`)).join(' > ')

/** The same text for the same state, whatever the order of its members. */
const nameOf = (state: State) =>
  JSON.stringify(state, (_, value) =>
    value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value,
  )

function* statesOf(story: string): Generator<{ state: State; way: readonly Action[] }> {
  let [state, way]: [State, readonly Action[]] = [START, []]
  yield { state, way }
  for (const text of story.split(' > ')) {
    const action = ACTIONS.find((one) => textOf([one]) === text)
    const stepped = action && step(state, action)
    if (!action || !stepped?.ok) throw new Error(`"${text}" is not possible in the story ${story}.`)
    ;[state, way] = [stepped.to, [...way, action]]
    yield { state, way }
  }
}

/**
 * Visits, breadth first, every state to which at most `depth` actions lead from a state of the stories, with every edge between them.
 * `broken` is a rule that does not hold.
 */
export function explore(depth: number, broken?: Rule) {
  const reached = new Map<string, { state: State; way: readonly Action[]; edges: Edge[] }>()
  let ring = STORIES.flatMap((story) => [...statesOf(story)])
  for (let distance = 0; distance <= depth; distance++) {
    const found = ring
    ring = []
    for (const { state, way } of found) {
      const name = nameOf(state)
      if (reached.has(name)) continue
      const edges = ACTIONS.flatMap((action) => {
        const to = step(state, action, broken)?.to
        if (to) ring.push({ state: to, way: [...way, action] })
        return to ? [{ action, to: nameOf(to) }] : []
      })
      reached.set(name, { state, way, edges })
    }
  }
  const violations = [...reached.values()].flatMap(({ state, way }) =>
    Object.entries(INVARIANTS).flatMap(([sentence, { isBroken }]) =>
      isBroken(state, broken) ? [{ sentence, way }] : [],
    ),
  )
  return { reached, violations: violations.sort((one, other) => one.way.length - other.way.length) }
}

/** So often can six minutes pass before something ends that lasts for the model, such as a bypass code. */
const MOST_MINUTES = 8

/** Walks from the start that together take every edge at least once. */
export function* walks(reached: ReturnType<typeof explore>['reached']): Generator<readonly Action[]> {
  const open = new Map(
    [...reached].map(([name, { edges }]) => [name, edges.filter(({ to }) => reached.has(to))]),
  )
  for (const [start, { way }] of reached) {
    while (open.get(start)?.length) {
      const walk = [...way]
      let at = start
      for (let left = open.get(at); left?.length; left = open.get(at)) {
        if (walk.filter(({ what }) => what === 'minutes').length >= MOST_MINUTES) break
        // First what changes nothing.
        const still = left.findIndex(({ to, action }) => to === at && action.what !== 'minutes')
        const [edge] = left.splice(Math.max(0, still), 1)
        if (!edge) break
        walk.push(edge.action)
        at = edge.to
      }
      yield walk
    }
  }
}
