import * as z from 'zod'
import { limitTime } from '../../time.js'
import { ensureDeliveryError } from '../delivery/carrier.js'
import { httpRequest, jsonFields } from './http-request.js'
import { signBody } from './webhook.js'

/** Why a phone number gets no codes, as the phone check answers (NIST SP 800-63B-4 §3.1.3.3). */
export const PHONE_RISKS = [
  'recent-sim-change',
  'recent-device-change',
  'recent-porting',
  'call-forwarding',
  'other-risk',
] as const

/** Why a phone number gets no codes. */
export type PhoneRisk = (typeof PHONE_RISKS)[number]

/** The rule of the option `phoneCheck`. */
export const phoneCheckRule = z.strictObject(
  {
    /** Address of your phone check, which is asked before a code is sent to a phone: `https://…`. Required. */
    url: z
      .string({ error: 'phoneCheck.url is missing: set it to the address of your phone check, https://…' })
      .refine(isWebhookAddress, {
        error: 'phoneCheck.url must be an http or https address without user, password and fragment',
      }),
    /** Secret that signs the requests, at least 16 characters. Defaults to `webhookSecret`. */
    secret: z
      .string({ error: 'phoneCheck.secret must be text: at least 16 characters' })
      .min(16, { error: 'phoneCheck.secret must have at least 16 characters' })
      .optional(),
    /** The action when the phone check gives no valid answer within a second: `send` the code, or `refuse` it. Required. */
    whenUnavailable: z.enum(['send', 'refuse'], {
      error: 'phoneCheck.whenUnavailable must be send or refuse: there is no default',
    }),
  },
  { error: 'phoneCheck must be an object, such as { url: "https://…", whenUnavailable: "send" }' },
)

/** The option `phoneCheck`, complete. */
export type PhoneCheckSettings = z.output<typeof phoneCheckRule>

function isWebhookAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === ''
}

const TIME_LIMIT_MS = 1_000

/** The question to the phone check: a number in E.164 form, and what the code is for. */
export interface PhoneQuestion {
  readonly number: string
  readonly purpose: 'sign-in' | 'step-up' | 'enrollment' | 'approval' | 'backup-codes'
}

/** `ok`, a risk, or why there is no valid answer. */
export type PhoneVerdict =
  | { readonly result: 'ok' | PhoneRisk }
  | { readonly result: 'unknown'; readonly reason: string }

/** The phone check of the operator, and what happens without an answer. */
export interface PhoneCheck extends Pick<PhoneCheckSettings, 'whenUnavailable'> {
  /** Asks the phone check. Never rejects. */
  ask(question: PhoneQuestion): Promise<PhoneVerdict>
}

/**
 * Asks by `POST` of JSON `{ number, purpose }` with the same signature as `webhookCarrier`, for at most a second. Status 200 with JSON
 * `{ result }`, `ok` or one of `PHONE_RISKS`, is an answer; everything else is none. Redirects are not followed.
 */
export function createPhoneCheck(
  settings: Omit<PhoneCheckSettings, 'secret'> & { readonly secret: string },
): PhoneCheck {
  const { url, secret, whenUnavailable } = settings
  return {
    whenUnavailable,
    async ask({ number, purpose }) {
      const body = JSON.stringify({ number, purpose })
      const headers = {
        'content-type': 'application/json',
        'countersign-signature': signBody([secret], body),
      }
      try {
        const response = await limitTime(TIME_LIMIT_MS, [], (signal) =>
          httpRequest('The phone check', url, { method: 'POST', headers, body }, signal),
        )
        if (response.status !== 200) return unknown(`The phone check answered ${response.status}.`)
        const { result } = jsonFields(response.body)
        const known = (['ok', ...PHONE_RISKS] as const).find((word) => word === result)
        return known
          ? { result: known }
          : unknown('The answer of the phone check has no result that is known.')
      } catch (error) {
        return unknown(ensureDeliveryError(error).message)
      }
    },
  }
}

function unknown(reason: string): PhoneVerdict {
  return { result: 'unknown', reason }
}
