import { LimitsStoreError } from '../../errors.js'
import { mapBindings } from '../../flows/challenge.js'
import type { RequestContext } from './context.js'

/** Reads which factors of the user are disabled, so that they are not offered; none if the store fails. The attempt is checked anyway. */
export async function readDisabledFactors({ deps, user }: RequestContext): Promise<void> {
  const bindings = mapBindings(user)
  if (bindings.size === 0 || user.disabled) return
  try {
    const limits = await user.limits()
    user.disabled = new Set(
      [...bindings].flatMap(([id, binding]) => (limits.isDisabled(binding) ? [id] : [])),
    )
  } catch (error) {
    if (!(error instanceof LimitsStoreError)) throw error
    deps.settings.logger.error(`countersign: ${error.message}`, error.cause ?? '')
  }
}
