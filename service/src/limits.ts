import * as z from 'zod'

const whole = (name: string, unit: string, least: number, most: number, initial: number) => {
  const error = `${name} must be a whole number of ${unit} from ${least} to ${most} (default ${initial})`
  return z.int({ error }).min(least, { error }).max(most, { error }).default(initial)
}

const DAY = 86_400

/** Every number that may be set, with its allowed range; outside it the service does not start. */
export const limitsSchema = z.strictObject({
  /** Length of a delivered code. */
  codeDigits: whole('codeDigits', 'digits', 6, 10, 6),
  /** Life of a code sent by SMS, WhatsApp, call or DUAL (R36). */
  codeLifeSeconds: whole('codeLifeSeconds', 'seconds', 60, 600, 300),
  /** Life of a code sent by email (R36). */
  emailCodeLifeSeconds: whole('emailCodeLifeSeconds', 'seconds', 60, 600, 600),
  /** Guesses that are evaluated for one challenge (R22). */
  maxTries: whole('maxTries', 'tries', 3, 10, 5),
  /** Unforgiven failures within 24 h that lock an account (R23). */
  lockAfter: whole('lockAfter', 'failures', 5, 10, 10),
  /** First lock of an account; each further one is twice as long, up to 24 h (R27). */
  lockSeconds: whole('lockSeconds', 'seconds', 900, DAY, 1_800),
  /** Unforgiven failures since a factor was bound that disable it (R26). */
  disableAfter: whole('disableAfter', 'failures', 20, 100, 100),
  /** Wait before the first resend; the second is twice, every further one four times as long. */
  resendSeconds: whole('resendSeconds', 'seconds', 20, 300, 30),
  /** Messages to one account in 10 minutes (R43). */
  sendsPer10Minutes: whole('sendsPer10Minutes', 'messages', 1, 5, 5),
  /** Messages to one account in 24 h (R43). */
  sendsPerDay: whole('sendsPerDay', 'messages', 1, 10, 10),
  /** Messages to one mailbox or telephone in an hour (R43). */
  sendsPerDestinationHour: whole('sendsPerDestinationHour', 'messages', 1, 5, 5),
  /** Messages asked for from one client address (IPv6: one /64) in an hour (R31, R43). */
  sendsPerClientHour: whole('sendsPerClientHour', 'messages', 1, 10, 10),
  /** Messages of one application in a day of UTC (R43). */
  sendsPerApplicationDay: whole('sendsPerApplicationDay', 'messages', 1, 10_000_000, 10_000),
  /** Steps of 30 s that an authenticator app may run ahead of the service's clock (R50). */
  appStepsAhead: whole('appStepsAhead', 'steps', 0, 1, 0),
  /** Codes in a set of backup codes (R58). */
  backupCodes: whole('backupCodes', 'codes', 8, 16, 10),
  /** Characters of a backup code, 5 bits each (R58). */
  backupCodeLength: whole('backupCodeLength', 'characters', 13, 32, 16),
})

export type Limits = Readonly<z.output<typeof limitsSchema>>
