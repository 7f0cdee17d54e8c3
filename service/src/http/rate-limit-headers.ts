import type { BudgetLeft } from '../accounts/message-budget.js'

/**
 * The budgets as `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). It is a draft: nobody
 * needs more than `Retry-After`.
 */
export function rateLimitHeaders(budgets: readonly BudgetLeft[]): Record<string, string> {
  const list = (item: (budget: BudgetLeft) => string) =>
    budgets.map((budget) => `"${budget.name}";${item(budget)}`).join(', ')
  return {
    'RateLimit-Policy': list(({ messages, withinSeconds }) => `q=${messages};w=${withinSeconds}`),
    RateLimit: list(({ left, resetSeconds }) => `r=${left};t=${resetSeconds}`),
  }
}
