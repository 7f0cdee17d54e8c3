import type { Application } from '../application.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'
import {
  type BudgetParameters,
  type BudgetRow,
  budgetColumns,
  budgetParameters,
  type CountedMessage,
  countMessages,
} from './count-messages.js'
import { type BudgetedMessage, type BudgetResult, withinBudget } from './message-budget.js'

const CONSUME = statement<BudgetParameters & { now: number }>(
  `WITH gate AS MATERIALIZED (
    SELECT 0 AS nr, :now::bigint AS now
  ), ${countMessages('gate')} SELECT ${budgetColumns('gate')} FROM gate`,
)

/** Consumes one message of every budget (R43), or of none and returns how long to wait, in a statement of its own. */
export async function consumeMessageBudget(
  tx: Queries,
  application: Application,
  message: BudgetedMessage,
  now: number,
): Promise<BudgetResult> {
  const run = async (counted: CountedMessage, part: number | undefined) => {
    const values = CONSUME.values({
      ...budgetParameters(application, [counted], now, part),
      now,
    })
    const row = await queryOne<BudgetRow>(tx, CONSUME.text, values)
    if (!row) throw new Error('The store returned no row for the budgets of a message.')
    return row
  }
  const { result } = await withinBudget(application, message, now, { queries: tx, run })
  if (!result) throw new Error('The store did not look at the budgets of a message.')
  return result
}
