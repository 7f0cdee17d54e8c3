/** The events that the service can post to the endpoints of an application. */
export const WEBHOOK_EVENT_TYPES = [
  'message.delivered',
  'message.failed',
  'user.locked',
  'factor.added',
  'factor.removed',
  'approval.given',
  'key.revoked',
  'key.new_network',
  'transcription.done',
  'transcription.failed',
] as const

/** The name of an event. */
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

/** The user that an event is about, without a full contact. */
export interface WebhookUser {
  /** The application's own name for the account; masked if it is a contact. Absent when the account is known by its contact. */
  readonly account?: string
  /** The contact by which the account is known, masked. Absent when the application has a name for it. */
  readonly contact?: string
  /** A keyed hash that is always the same for one account, as in the service's log and lists of accounts. */
  readonly reference: string
}

/** A message that arrived, or that did not. */
export interface WebhookMessage {
  /** The id of the application. */
  readonly application: string
  /** The user to whom it was sent, if the message belongs to one. */
  readonly user?: WebhookUser
  /** The message and the carrier's answer, without its text. */
  readonly message: {
    readonly id: string
    /** The challenge whose code it carried. */
    readonly challenge?: string
    readonly channel: 'email' | 'sms' | 'whatsapp' | 'call'
    /** The recipient, masked. */
    readonly to: string
    readonly carrier?: string
    /** Why it was not delivered: `contact`, `carrier`, `outage`, … */
    readonly reason?: string
  }
}

/** A factor of a user that was added or removed. */
export interface WebhookFactor {
  /** The id of the application. */
  readonly application: string
  /** The user whose factor it is. */
  readonly user: WebhookUser
  /** `APP`, `BACKUP`, `SECURITY_KEY` or `PASSKEY`. */
  readonly factor: string
  /** The id of a security key or passkey. */
  readonly key?: string
  /** Who did it. */
  readonly by: 'user' | 'operator'
}

/** The user approved a request with a factor. */
export interface WebhookApproval extends Pick<WebhookFactor, 'application' | 'user'> {
  /** The approved action: your id of it, the same as in the receipt, and its SHA-256 in base64url. */
  readonly approval: { readonly id: string; readonly digest: string }
  /** `EMAIL`, `PHONE`, `DUAL`, `APP`, `BACKUP`, `SECURITY_KEY` or `PASSKEY`. */
  readonly factor: string
}

interface WebhookKey extends Pick<WebhookFactor, 'application'> {
  /** The API key, without the key itself. */
  readonly key: { readonly id: string; readonly mode: 'live' | 'test'; readonly label: string }
}

interface Posted<Type extends string, Data> {
  /** Identifies the event: an event that arrives twice has the same id. */
  readonly id: string
  readonly type: Type
  /** When it happened, as an ISO 8601 time. */
  readonly timestamp: string
  readonly data: Data
}

/** An event that the service posts to an endpoint. */
export type WebhookEvent =
  | Posted<'message.delivered' | 'message.failed', WebhookMessage>
  | Posted<
      'user.locked',
      {
        readonly application: string
        readonly user: WebhookUser
        /** When the lock ends, as an ISO 8601 time. */
        readonly locked_until: string
      }
    >
  | Posted<'factor.added' | 'factor.removed', WebhookFactor>
  | Posted<'approval.given', WebhookApproval>
  | Posted<'key.revoked', WebhookKey>
  | Posted<
      'key.new_network',
      WebhookKey & {
        /** The network from which it was used for the first time: the /24 of an IPv4 address, or the /64 of an IPv6 address. */
        readonly network: string
      }
    >
  | Posted<
      'transcription.done' | 'transcription.failed',
      {
        readonly application: string
        /** The transcription job, without its transcript, which `transcriptionJob(id)` returns. */
        readonly job: {
          readonly id: string
          /** The code of the problem of a job that failed. */
          readonly problem?: string
        }
      }
    >
  /** An operator tests the endpoint. */
  | Posted<'webhook.test', { readonly application: string }>
