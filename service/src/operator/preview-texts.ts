import { CHANNELS, type Channel } from '../messages/message.js'
import { codeMessage, mailHtml } from '../messages/texts/compose.js'
import { type SmsSize, smsSize } from '../messages/texts/sms.js'
import { effectiveApplication, storedSettings } from './applications.js'
import type { Actor } from './audited-change.js'

/** The message of one channel with a code to sign in, as it is sent. */
export interface TextPreview {
  /** `email`, `sms`, `whatsapp` or `call`. */
  readonly channel: Channel
  /** The subject of an email; empty on other channels. */
  readonly subject: string
  /** The text; of an email, its plain part; of a call, what the voice says. */
  readonly text: string
  /** The HTML part of an email, as a whole document; absent on other channels. */
  readonly html?: string
  /** The length of an SMS; absent on other channels. */
  readonly size?: SmsSize
}

/** Stands for the digits of a code, of any length. */
const DIGITS = '1234567890'

/** The messages of an application with a code to sign in, in a language, with an example of a code. */
export async function previewTexts(
  { store }: Actor,
  application: string,
  language: string,
): Promise<TextPreview[]> {
  const settings = effectiveApplication(application, await storedSettings(store, application))
  const { codeDigits, codeLifetimeMs, emailCodeLifetimeMs } = settings.limits
  return CHANNELS.map((channel) => {
    const isEmail = channel === 'email'
    const message = codeMessage(
      settings,
      { channel, to: '', locale: language },
      {
        code: DIGITS.slice(0, codeDigits),
        purpose: 'sign-in',
        secondsLeft: (isEmail ? emailCodeLifetimeMs : codeLifetimeMs) / 1_000,
      },
    )
    const { subject, text } = message
    return {
      channel,
      subject: isEmail ? subject : '',
      text,
      ...(isEmail && { html: mailHtml(message) }),
      ...(channel === 'sms' && { size: smsSize(text) }),
    }
  })
}
