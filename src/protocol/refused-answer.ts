import * as z from 'zod'

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
    z.object({ reason: z.enum(['method_off', 'contact_refused']), detail: z.string().optional() }),
    z.object({ reason: z.enum(['factor_disabled', 'delivery_failed']) }),
  ]),
})
