import type { Application } from '../application.js'
import { statement } from '../store/statement.js'
import { type Queries, queryOne } from '../store/store.js'
import { BUDGET_COLUMNS, type BudgetParameters, type BudgetRow, countMessage } from './count-message.js'
import { type BudgetedMessage, type BudgetResult, withinBudget } from './message-budget.js'

const CONSUME = statement<BudgetParameters>(
  `WITH gate AS (SELECT), ${countMessage('gate')} SELECT ${BUDGET_COLUMNS}`,
)

/** Consumes one message of every budget (R43), or of none and returns how long to wait, in a statement of its own. */
export async function consumeMessageBudget(
  tx: Queries,
  application: Application,
  message: BudgetedMessage,
  now: number,
): Promise<BudgetResult> {
  const run = async (parameters: BudgetParameters) => {
    const row = await queryOne<BudgetRow>(tx, CONSUME.text, CONSUME.values(parameters))
    if (!row) throw new Error('The store returned no row for the budgets of a message.')
    return row
  }
  const { result } = await withinBudget(application, message, now, { queries: tx, run })
  if (!result) throw new Error('The store did not look at the budgets of a message.')
  return result
}
