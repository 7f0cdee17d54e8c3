import * as z from 'zod'

/** Why the service refused a request. A refusal is a return value; a failure of the service is thrown as `ServiceError`. */
export type ServiceRefusal =
  /** Too many messages; try again after the wait. */
  | { readonly reason: 'limited'; readonly retryAfterSeconds: number }
  /** Too many wrong codes on this account; no code is checked until the wait is over. */
  | { readonly reason: 'locked'; readonly retryAfterSeconds: number }
  /** The factor was disabled after too many failures and must be enrolled again (R26). */
  | { readonly reason: 'factor_disabled' }
  /** The application does not offer this method, or its tier does not include it; `detail` says which. */
  | { readonly reason: 'method_off'; readonly detail?: string }
  /** The contact cannot be reached by this method: an unused phone number, an unsupported country … `detail` says why. */
  | { readonly reason: 'contact_refused'; readonly detail?: string }
  /** The operator's phone check refuses codes for this number, for example after a change of its SIM card; `detail` says which. */
  | { readonly reason: 'phone_at_risk'; readonly detail?: string }
  /** The carrier or mail server permanently refused the message. */
  | { readonly reason: 'delivery_failed' }

/** The response to a refused request. */
export type Refused = { readonly outcome: 'refused'; readonly refusal: ServiceRefusal }

const DAY_SECONDS = 86_400

/** A wait in seconds. It ends when its last second does. */
export const waitSeconds = z
  .number()
  .nonnegative()
  .overwrite((value) => Math.min(Math.ceil(value), DAY_SECONDS))

/** A refusal in the response of a service that the host passes as an object. */
export const refusedAnswer = z.object({
  outcome: z.literal('refused'),
  refusal: z.discriminatedUnion('reason', [
    z.object({ reason: z.enum(['limited', 'locked']), retryAfterSeconds: waitSeconds }),
    z.object({
      reason: z.enum(['method_off', 'contact_refused', 'phone_at_risk']),
      detail: z.string().optional(),
    }),
    z.object({ reason: z.enum(['factor_disabled', 'delivery_failed']) }),
  ]),
})

/** Every reason of a refusal. */
export const REFUSAL_REASONS: readonly string[] = refusedAnswer.shape.refusal.options.flatMap(
  ({ shape }): readonly string[] => shape.reason.options,
)
