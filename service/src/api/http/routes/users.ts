import type { RequestHandler } from 'express'
import type * as z from 'zod'
import type { Application } from '../../../accounts/application.js'
import type { FlowContext } from '../../../flows/context.js'
import { parseAccount } from '../../../flows/inputs.js'
import type { Actor } from '../../../operator/audited-change.js'
import { eraseUserData, exportUserData, listUserData, MAX_USERS } from '../../../operator/user-data.js'
import { callerOfRequest, callingApplication, runForAccount } from '../authenticate.js'
import type { eraseAnswer, usersAnswer } from '../openapi/schemas.js'
import { problem, refuseField } from '../problem.js'

const DEFAULT_LIMIT = 100

/** `GET /v1/users`: the accounts of the calling application, a page at a time, with masked contacts. */
export function usersRoute({ store, keys }: FlowContext): RequestHandler {
  return async function listUsers(request, response) {
    const { limit = String(DEFAULT_LIMIT), after } = request.query
    if (typeof limit !== 'string' || !/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_USERS) {
      return refuseField(response, 'limit', `must be a number from 1 to ${MAX_USERS}`)
    }
    const page =
      after === undefined || typeof after === 'string'
        ? await listUserData(store, keys, callingApplication(request), { after, limit: Number(limit) })
        : undefined
    if (!page) return refuseField(response, 'after', 'must be `next` of an earlier page')
    const answer: z.output<typeof usersAnswer> = {
      users: page.users.map(({ lockedUntil, authenticatorApp, backupCodesLeft, ...user }) => ({
        ...user,
        locked_until: lockedUntil === null ? null : new Date(lockedUntil).toISOString(),
        app: authenticatorApp,
        backup_codes_left: backupCodesLeft,
      })),
      ...(page.next !== undefined && { next: page.next }),
    }
    if (!response.headersSent) response.json(answer)
  }
}

/** `POST /v1/users/export`: everything that is stored about an account (R104). */
export function exportRoute(context: FlowContext): RequestHandler {
  return accountRoute(context, exportUserData)
}

/** `POST /v1/users/erase`: deletes everything that is stored about an account (R104). */
export function eraseRoute(context: FlowContext): RequestHandler {
  return accountRoute(context, async (actor, application, account) => {
    const { reference, deleted } = await eraseUserData(actor, application, account)
    context.log({ level: 'info', event: 'user.erased', application: application.id, account: reference })
    const answer: z.output<typeof eraseAnswer> = { erased: deleted !== undefined, reference }
    return answer
  })
}

/** Responds with what `work` returns for the account that the body names; `undefined` if nothing is stored about it. */
function accountRoute(
  context: FlowContext,
  work: (actor: Actor, application: Application, account: string) => Promise<object | undefined>,
): RequestHandler {
  const { store, keys } = context
  return async function useAccount(request, response) {
    const parsed = parseAccount(request.body)
    if (!parsed.ok) return problem(response, 'invalid_request', { errors: parsed.errors })
    const { key: name } = callerOfRequest(request)
    const actor: Actor = { store, name, keys: () => keys, onApplicationChanged() {} }
    await runForAccount(context, parsed.value, request, response, async () => {
      const answer = await work(actor, callingApplication(request), parsed.value)
      if (!answer) return problem(response, 'not_found', { detail: 'Nothing is stored about this account.' })
      if (!response.headersSent) response.json(answer)
    })
  }
}
