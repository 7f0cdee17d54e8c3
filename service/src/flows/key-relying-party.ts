import type { Contact, KeyMethod, Refused } from 'countersign/protocol'
import type { Application, RelyingPartySettings } from '../application.js'
import { relyingPartyFor } from '../applications/offered-methods.js'
import { simulatedRefusal } from '../test-mode/simulated-outcomes.js'

/** The relying party of a ceremony with a key, unless the application does not offer the method or test mode simulates a refusal. */
export function keyRelyingParty(
  application: Application,
  { contact, method }: { readonly contact: Contact; readonly method: KeyMethod },
): RelyingPartySettings | Refused {
  return simulatedRefusal(application, contact) ?? relyingPartyFor(application, method)
}
