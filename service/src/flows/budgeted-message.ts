import type { BudgetedMessage } from '../accounts/message-budget.js'
import type { Recipient } from '../message-texts/compose.js'

/** What the messages to these recipients count against. */
export function budgetedMessage(
  recipients: readonly Recipient[],
  caller: Pick<BudgetedMessage, 'account' | 'clientAddress'>,
): Omit<BudgetedMessage, 'isCode'> {
  return {
    account: caller.account,
    destinations: recipients.map(({ to }) => to.toLowerCase()),
    clientAddress: caller.clientAddress,
    phone: recipients.find(({ channel }) => channel !== 'email')?.to,
  }
}
