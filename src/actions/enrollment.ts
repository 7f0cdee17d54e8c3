import { type Refused, refuse } from '../flows/deps.js'
import type { RequestContext } from './context.js'

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
  const { open } = reset
  if (!open) return confirm()
  const { approvals, resets } = deps
  const turn = `reset:${open.id}`
  if (!(await approvals.acquire(turn))) return refuse({ code: 'session_ended' })
  try {
    const isOpen = (await resets?.find(state.userId))?.id === open.id
    return isOpen ? await confirm() : refuse({ code: 'session_ended' })
  } finally {
    await approvals.release(turn)
  }
}
