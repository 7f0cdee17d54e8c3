import { type Refused, refuse } from '../flows/deps.js'
import { existingFactors } from '../flows/user.js'
import type { RequestContext } from './context.js'

/**
 * Whether this pending login may, and must, set up a factor: it showed what the open reset of the account requires. What a
 * reset permits ends with it, so the session names the reset that it belongs to (R135).
 */
export function mustEnroll({ state, reset }: Pick<RequestContext, 'state' | 'reset'>): boolean {
  return reset !== undefined && state.record.mustEnroll === reset.id
}

/** Whether the account was reset by staff, so that only their bypass code is accepted. */
export function needsBypassCode({ state, reset }: Pick<RequestContext, 'state' | 'reset'>): boolean {
  return reset?.kind === 'help_desk' && !mustEnroll({ state, reset })
}

/** Whether a pending login continues with the setup of a factor, and not with a code. */
export function isEnrolling({
  state,
  user,
  reset,
}: Pick<RequestContext, 'state' | 'user' | 'reset'>): boolean {
  if (state.stage !== 'pending') return false
  return reset ? mustEnroll({ state, reset }) : existingFactors(user).length === 0
}

/** Whether the session may set up the first factor of its account. One that the policy let pass may not, unless it says so (R120). */
export function mayEnrollFirst({ state: { record } }: Pick<RequestContext, 'state'>): boolean {
  return record.stage !== 'exempt' || record.exemption !== 'policy'
}

/**
 * Runs the confirmation of a new factor. Of several sessions that an open reset let in, one at a time confirms, and none
 * after the reset is closed: otherwise a second one would replace the new factor at the same moment (R135).
 */
export async function confirmForReset<Outcome extends { readonly outcome: string }>(
  { deps, state, reset }: RequestContext,
  confirm: () => Promise<Outcome | Refused>,
): Promise<Outcome | Refused> {
  if (!reset) return confirm()
  const { approvals, resets } = deps
  const turn = `reset:${reset.id}`
  if (!(await approvals.acquire(turn))) return refuse({ code: 'session_ended' })
  try {
    const isOpen = (await resets?.find(state.userId))?.id === reset.id
    return isOpen ? await confirm() : refuse({ code: 'session_ended' })
  } finally {
    await approvals.release(turn)
  }
}
