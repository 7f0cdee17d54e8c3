import type { Contact, KeyMethod, keyTypes, Refused } from 'countersign/protocol'
import type { Application, RelyingPartySettings } from '../application.js'
import { relyingPartyFor } from '../applications/offered-methods.js'
import { simulatedRefusal } from '../test-mode/simulated-outcomes.js'
import type { FlowContext } from './context.js'

/** The relying party of a ceremony with a key, unless the application does not offer the method or test mode simulates a refusal. */
export function keyRelyingParty(
  application: Application,
  { contact, method }: { readonly contact: Contact; readonly method: KeyMethod },
): RelyingPartySettings | Refused {
  return simulatedRefusal(application, contact) ?? relyingPartyFor(application, method)
}

/** The relying party of an application as its pages publish it; `undefined` if it has none. */
export async function publishedRelyingParty(
  _context: FlowContext,
  { relyingParty }: Application,
): Promise<keyTypes.RelyingParty | undefined> {
  if (!relyingParty) return undefined
  const { topOrigins: _topOrigins, ...published } = relyingParty
  return published
}
