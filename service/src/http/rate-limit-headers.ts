import type { BudgetLeft } from '../accounts/message-budget.js'

/**
 * The message budgets as `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). Clients need only
 * `Retry-After`, since this is a draft.
 */
export function rateLimitHeaders(budgets: readonly BudgetLeft[]): Record<string, string> {
  const list = (item: (budget: BudgetLeft) => string) =>
    budgets.map((budget) => `"${budget.name}";${item(budget)}`).join(', ')
  return {
    'RateLimit-Policy': list(({ messages, withinSeconds }) => `q=${messages};w=${withinSeconds}`),
    RateLimit: list(({ left, resetSeconds }) => `r=${left};t=${resetSeconds}`),
  }
}
