import { OperatorError } from '../operator/operator-error.js'
import type { PageMessage } from './page.js'

/** Runs a change, and returns what the page says about it: `done`, or what the operator must correct. */
export async function attempt(work: () => Promise<unknown>, done: string): Promise<PageMessage> {
  try {
    await work()
    return { tone: 'success', text: done }
  } catch (error) {
    if (error instanceof OperatorError) return { tone: 'error', text: error.message }
    throw error
  }
}

/** The message and, for a refused change, the status of a page. */
export function withMessage(message: PageMessage | undefined) {
  if (!message) return {}
  return { message, ...(message.tone === 'error' && { status: 422 }) }
}
