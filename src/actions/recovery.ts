import { formatUser, parseUser } from '../protocol/contact.js'
import type { Factor } from '../protocol/factor.js'
import type { Sender } from '../recovery/recovery.js'
import type { Settings } from '../settings.js'
import type { RequestContext } from './context.js'
import { factsOf } from './notify.js'

/** Every contact of an account, as email addresses and phone numbers: those of its factors, of `appContact`, and of `recovery.contacts`. */
export function contactsOf(
  { appContact, recovery }: Pick<Settings, 'appContact' | 'recovery'>,
  user: Express.User,
  factors: readonly Factor[],
): readonly string[] {
  const main: unknown = appContact ? appContact(user) : Reflect.get(user, 'email')
  const more = [main, ...(recovery?.contacts?.(user) ?? [])].flatMap((one) => {
    const contact = typeof one === 'string' ? parseUser(one) : undefined
    return contact ? [contact] : []
  })
  const channels = [...factors.map(({ contact }) => contact), ...more].flatMap((contact) =>
    contact.kind === 'dual' ? [contact.email, contact.phone] : [formatUser(contact)],
  )
  return [...new Set(channels)]
}

/** What a request says about its sender, for a notice. */
export function senderOf({ req, deps }: RequestContext): Sender {
  const { browser, address, location } = factsOf(req, deps.settings, { type: 'recovery_requested' })
  return { ...(browser && { browser }), ...(address && { address }), ...(location && { location }) }
}
