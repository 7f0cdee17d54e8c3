import type { Application } from '../application.js'
import type { Queries } from '../store/store.js'

const CONTACT_PREFIX = 'contact:'

/**
 * The mailboxes and phone numbers that the store shows for an account, in lower case, as the budgets of destinations are
 * named: proven ones, those of its challenges, backup codes and failures, and its own name if that is a contact.
 */
export async function destinationsOf(
  queries: Queries,
  application: Pick<Application, 'id'>,
  account: string,
): Promise<string[]> {
  const rows = await queries.query<{ contact: string | null }>(
    `SELECT unnest(ARRAY[proven_email, proven_phone]) AS contact FROM account
       WHERE application = $1 AND account = $2
     UNION SELECT contact FROM challenge WHERE application = $1 AND account = $2
     UNION SELECT unnest(ARRAY[contact, waiting_contact]) FROM backup_set WHERE application = $1 AND account = $2
     UNION SELECT substr(factor, strpos(factor, ':') + 1) FROM factor
       WHERE application = $1 AND account = $2 AND strpos(factor, ':') > 0`,
    [application.id, account],
  )
  const own = account.startsWith(CONTACT_PREFIX) ? [account.slice(CONTACT_PREFIX.length)] : []
  const contacts = [...own, ...rows.flatMap(({ contact }) => contact ?? [])]
  // A DUAL contact is a mailbox and a number, separated by a colon, which neither contains.
  return [...new Set(contacts.flatMap((contact) => contact.toLowerCase().split(':')))]
}
