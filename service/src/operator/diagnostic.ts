/** The areas that the doctor checks, in this order. */
export const SUBJECTS = [
  'settings',
  'carriers',
  'transcription',
  'identity provider',
  'database',
  'migrations',
  'secrets',
  'deliveries',
  'webhooks',
  'API keys',
  'countries',
  'traffic',
  'phone check',
  'security keys',
  'authenticator apps',
] as const

/** The result of one check. */
export interface Diagnostic {
  /** `error`: something does not work. `warning`: it works, but the operator should act. */
  readonly severity: 'ok' | 'warning' | 'error'
  readonly subject: (typeof SUBJECTS)[number]
  /** The application that it is about, and its endpoint for events; absent for the whole service. */
  readonly about?: { readonly application: string; readonly endpoint?: string }
  /** What was found and, unless it is `ok`, what to do. */
  readonly message: string
}
