/** What an account's authenticator secret is sealed for. */
export function appSecretIdentity(application: string, account: string): string[] {
  return ['app secret', application, account]
}

/** What a waiting message is sealed for. */
export function letterIdentity(application: string, id: string): string[] {
  return ['outbox', application, id]
}

/** What a message in the development inbox is sealed for. */
export function inboxIdentity(application: string, recipient: string): string[] {
  return ['inbox', application, recipient]
}
