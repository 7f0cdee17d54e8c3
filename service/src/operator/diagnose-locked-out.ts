import type { RelyingPartyOption } from '../applications/key-settings.js'
import type { Store } from '../store/store.js'
import type { Diagnostic } from './diagnostic.js'
import { lockedOutAdvice, lockedOutUsers } from './locked-out-users.js'

/** Checks whether users have nothing but keys that their application does not offer now (R132). Reports nothing if there are none. */
export async function diagnoseLockedOut(
  store: Store,
  { relyingParty }: { readonly relyingParty?: RelyingPartyOption | undefined },
): Promise<Diagnostic[]> {
  const found = await lockedOutUsers(store, relyingParty)
  return found.map((one) => ({
    severity: 'warning',
    subject: 'security keys',
    message: lockedOutAdvice(one),
  }))
}
