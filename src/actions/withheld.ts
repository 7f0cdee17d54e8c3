import type { MfaUser } from '../flows/user.js'
import type { Problem } from '../http/problem.js'
import type { ActiveState } from '../session/state.js'
import type { Settings } from '../settings.js'

type Withheld = Pick<MfaUser, 'factors' | 'withheld'>

/** The page of the recovery, if the user has a factor or a session with which one can be requested. */
export function recoverPathFor(
  { recovery, path }: Pick<Settings, 'recovery' | 'path'>,
  { factors, withheld }: Withheld,
  { stage }: Pick<ActiveState, 'stage'>,
): string | undefined {
  const isPossible = factors.length > 0 || (withheld.length > 0 && stage === 'verified')
  return recovery?.selfService && isPossible ? `${path}/recover` : undefined
}

/** What a JSON client learns whose user has factors, none of which can be used now: what happened, and what the user can do (R132). */
export function withheldProblem(
  settings: Pick<Settings, 'recovery' | 'path' | 'help'>,
  user: Withheld,
  state: Pick<ActiveState, 'stage'>,
): Problem {
  const recover = recoverPathFor(settings, user, state)
  return {
    code: 'factors_withheld',
    next: settings.path,
    ...(recover !== undefined && { recover }),
    ...(settings.help !== undefined && { help: settings.help }),
  }
}
