import type { Queries } from '../store/store.js'

/** Whether the owner of a mailbox reported a mail of the application as spam, so that it gets no more of them. */
export async function hasComplained(queries: Queries, application: string, email: string): Promise<boolean> {
  const rows = await queries.query('SELECT FROM mail_complaint WHERE application = $1 AND email = $2', [
    application,
    email.toLowerCase(),
  ])
  return rows.length > 0
}
