import { nothing } from '../no-op.js'
import type { Settings } from '../options/settings.js'
import type { KeyVerbs, MfaService } from '../protocol/service.js'

/** How long an answer is used. The operator changes the relying party rarely, and browsers ask often. */
const USED_FOR_MS = 5 * 60_000

/** The verbs for keys of an app. The relying party is asked for at most every five minutes; a failure is not remembered. */
export interface OfferedKeys extends KeyVerbs {
  /** Whether the app offers keys. If not, every verb refuses with `method_off`. */
  readonly areOffered: boolean
  /** How long a browser is not offered a passkey again; absent if none is offered. */
  readonly offerPasskeyMs?: number | undefined
}

const refuse = async () => ({ outcome: 'refused', refusal: { reason: 'method_off' } }) as const

const NO_KEYS: OfferedKeys = {
  areOffered: false,
  registrationOptions: refuse,
  register: refuse,
  authenticationOptions: refuse,
  authenticate: refuse,
  list: refuse,
  rename: refuse,
  remove: refuse,
  relyingParty: nothing,
}

/** The verbs of an app that offers keys, or those of one without. */
export function createOfferedKeys(
  { keys: option }: Pick<Settings, 'keys'>,
  { keys }: Pick<MfaService, 'keys'>,
): OfferedKeys {
  if (option === false || !keys) return NO_KEYS
  const offerPasskeyMs = (typeof option === 'object' && option.offerPasskeyMs) || undefined
  let known: { readonly answer: ReturnType<KeyVerbs['relyingParty']>; readonly usedUntil: number } | undefined
  const relyingParty = () => {
    if (known && known.usedUntil > Date.now()) return known.answer
    const asked = { answer: keys.relyingParty(), usedUntil: Date.now() + USED_FOR_MS }
    known = asked
    asked.answer.catch(() => {
      if (known === asked) known = undefined
    })
    return asked.answer
  }
  return { ...keys, areOffered: true, offerPasskeyMs, relyingParty }
}
