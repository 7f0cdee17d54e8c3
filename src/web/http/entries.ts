import type { ResumeEntry } from '../../pages/view.js'
import { languageKey, pickLocale } from '../../protocol/language.js'
import type { InterruptedRequest } from '../../session/record.js'

type Label = NonNullable<InterruptedRequest['labels']>[string]

/** The fields of an interrupted form that the user checks. Values that look like secrets are not shown. */
export function resumeEntries(
  { fields, labels = {} }: Pick<InterruptedRequest, 'fields' | 'labels'>,
  locale: string,
): ResumeEntry[] {
  return Object.entries(fields).flatMap(([name, value]): ResumeEntry[] => {
    // By convention, a name that begins with an underscore, such as _csrf, is not meant for the user.
    const label = Object.hasOwn(labels, name) ? labels[name] : name.startsWith('_') ? false : undefined
    if (label === false) return []
    const text = (label !== undefined && pickText(label, locale)) || spellName(name)
    return [isSecret(name) ? { label: text } : { label: text, value }]
  })
}

/** A text in a language, or in the first one that it has. */
export function pickText(label: Exclude<Label, false>, locale: string): string | undefined {
  if (typeof label === 'string') return label
  const [first] = Object.values(label)
  const texts = new Map(Object.entries(label).map(([tag, text]) => [languageKey(tag), text]))
  return texts.get(pickLocale([locale], texts)) ?? first
}

/** `recipientName`, `recipient_name` and `recipient[name]` are all "Recipient name". */
function spellName(name: string): string {
  const words = splitWords(name).map((word) => (/^[A-Z\d]{2,}$/.test(word) ? word : word.toLowerCase()))
  const text = words.join(' ') || name
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function splitWords(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_.[\]-]+/)
    .filter((word) => word !== '')
}

const SECRET_PART = /passw|passphrase|passcode|pwd|secret|token|csrf|xsrf|apikey/
const SECRET_WORDS: ReadonlySet<string> = new Set(['pass', 'pw', 'pin', 'cvc', 'cvv', 'otp', 'tan'])

function isSecret(name: string): boolean {
  const words = splitWords(name).map((word) => word.toLowerCase())
  return SECRET_PART.test(words.join('')) || words.some((word) => SECRET_WORDS.has(word))
}
