/** Headers of answers, as the document describes them. */
export const HEADERS = {
  RequestId: {
    description:
      'Names the request in the log of the service: yours, if it was a plain token, else a fresh one.',
    schema: { type: 'string' as const },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer' as const, minimum: 1 },
  },
  RateLimit: {
    description:
      'What is left of each budget: `r` messages, and `t` seconds until one more is free. Draft of the IETF, may change.',
    schema: { type: 'string' as const },
    example: '"account";r=4;t=600, "application";r=9999;t=52000',
  },
  RateLimitPolicy: {
    description: 'The budgets: `q` messages in `w` seconds. Draft of the IETF, may change.',
    schema: { type: 'string' as const },
    example: '"account";q=5;w=600, "application";q=10000;w=86400',
  },
  IdempotencyReplayed: {
    description: '`true` when this is the answer to an earlier request with the same key.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
  WwwAuthenticate: {
    description: 'Only when the key is the problem, never for a wrong code.',
    schema: { type: 'string' as const },
    example: 'Bearer',
  },
  Allow: {
    description: 'The methods that the address takes.',
    schema: { type: 'string' as const },
    example: 'POST',
  },
}

/** Refers to one of them. */
export function header(name: keyof typeof HEADERS): { readonly $ref: `#/components/headers/${string}` } {
  return { $ref: `#/components/headers/${name}` }
}
