/** The identity that an account's authenticator secret is sealed for. */
export function appSecretIdentity(application: string, account: string): string[] {
  return ['app secret', application, account]
}

/** The identity that a queued message is sealed for. */
export function outboxIdentity(application: string, id: string): string[] {
  return ['outbox', application, id]
}

/** The identity that a message in the development inbox is sealed for. */
export function inboxIdentity(application: string, recipient: string): string[] {
  return ['inbox', application, recipient]
}

/** The identity that the secret of an endpoint for events is sealed for. */
export function eventEndpointIdentity(application: string, id: string): string[] {
  return ['event endpoint', application, id]
}

/** The identity that the request of a transcription job is sealed for. */
export function jobIdentity(application: string, id: string): string[] {
  return ['transcription job', application, id]
}

/** The identity that the secret of an application's own webhook is sealed for. */
export function webhookIdentity(application: string): string[] {
  return ['webhook', application]
}
