import { canonicalUser, parseUser, wire } from 'countersign/protocol'
import * as z from 'zod'
import { invalid, type Parsed, parse } from './parse.js'
import { accountName } from './request-user.js'

/** The body of the calls about the data of an account. */
export const accountBody = z.object({
  Account: wire.factorsBody.shape.Account,
  User: wire.factorsBody.shape.User.optional().meta({
    description: 'The contact of the account, if your requests about it have no `Account`.',
    examples: ['ann@example.com'],
  }),
})

/** Validates a body that names an account; the result is its name in rows. */
export function parseAccount(body: unknown): Parsed<string> {
  return parse(accountBody, body, ({ Account, User }) => {
    if (Account !== undefined) return { ok: true, value: accountName(Account, '') }
    const contact = User === undefined ? undefined : parseUser(User)
    if (contact) return { ok: true, value: accountName(undefined, canonicalUser(contact)) }
    return User === undefined
      ? invalid({ field: 'Account', detail: 'or User must be given' })
      : invalid({
          field: 'User',
          detail: 'must be a contact: an email address, a phone number in E.164 form, or both',
        })
  })
}
