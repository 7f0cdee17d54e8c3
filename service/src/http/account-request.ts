import type { Request, Response } from 'express'
import type { FlowContext } from '../flows/context.js'
import { ACCOUNT_BUSY_SECONDS } from '../flows/requests-under-way.js'
import { callingApplication } from './authenticate.js'
import { problem } from './problem.js'

/**
 * Runs `work` for a request about an account of the calling application. Refuses the request if as many of the account are under way
 * as this process allows (R139).
 */
export async function forAccount(
  { underWay }: Pick<FlowContext, 'underWay'>,
  account: string,
  request: Request,
  response: Response,
  work: () => Promise<void>,
): Promise<void> {
  const leave = underWay.enter(callingApplication(request), account)
  if (!leave) return problem(response, 'account_busy', { retryAfterSeconds: ACCOUNT_BUSY_SECONDS })
  try {
    await work()
  } finally {
    leave()
  }
}
