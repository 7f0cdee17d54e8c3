import type { AccountFactors } from 'countersign/protocol'
import { readAccountFactors } from '../accounts/account-factors.js'
import type { Application } from '../application.js'
import { offeredKeyMethods } from '../applications/offered-methods.js'
import type { RequestUser } from '../requests/request-user.js'
import type { FlowContext } from './context.js'

/** The factors that an account has: its authenticator app, its backup codes for the contact, and when they were last used. */
export async function accountFactors(
  { store }: Pick<FlowContext, 'store'>,
  application: Application,
  input: RequestUser,
): Promise<AccountFactors> {
  return readAccountFactors(store, application, input, offeredKeyMethods(application))
}
