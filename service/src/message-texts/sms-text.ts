import { inGsm7 } from './gsm-7.js'
import { isOneSegment } from './sms-segments.js'

// In UTF-16 units. A shorter piece of a name is not recognized.
const MIN_NAME_LENGTH = 8

/**
 * The text of an SMS with a code: the first one that is a single segment together with the line for browsers. For a long name
 * the texts get shorter, then the name is cut. Some form always fits if the origin has at most 37 characters less twice the digits
 * of the code, which is 25 for six digits.
 */
export function smsText(
  name: string,
  forms: readonly ((name: string) => string)[],
  lastLine: string,
): string {
  const withLine = (form: (name: string) => string, shown: string) => inGsm7(form(shown)) + lastLine
  const whole = forms.map((form) => withLine(form, name))
  const shortestForm = forms.at(-1)
  const cut = shortestForm ? cutNames(name).map((shown) => withLine(shortestForm, shown)) : []
  return [...whole, ...cut].find(isOneSegment) ?? whole.at(-1) ?? ''
}

/** The name cut to each length, longest first. Nothing marks the end: three dots would replace three letters. */
function cutNames(name: string): string[] {
  const characters = [...name]
  return characters
    .map((_, cut) =>
      characters
        .slice(0, characters.length - cut)
        .join('')
        .trimEnd(),
    )
    .filter((shown) => shown.length >= MIN_NAME_LENGTH)
}
