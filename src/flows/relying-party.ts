import type { KeyVerbs, RelyingParty } from '../protocol/keys.js'

/** How long an answer is used. The operator changes the relying party rarely, and browsers ask often. */
const USED_FOR_MS = 5 * 60_000

/** Asks the service for the relying party, at most every five minutes. A failure is not remembered. */
export function relyingPartyIn(keys: KeyVerbs): () => Promise<RelyingParty | undefined> {
  let known: { readonly answer: Promise<RelyingParty | undefined>; readonly usedUntil: number } | undefined
  return () => {
    if (known && known.usedUntil > Date.now()) return known.answer
    const asked = { answer: keys.relyingParty(), usedUntil: Date.now() + USED_FOR_MS }
    known = asked
    asked.answer.catch(() => {
      if (known === asked) known = undefined
    })
    return asked.answer
  }
}
