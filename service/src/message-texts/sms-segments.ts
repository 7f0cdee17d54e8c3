import { gsm7Units } from './gsm-7.js'

const GSM_7_LIMIT = 160
const UCS_2_LIMIT = 70

/**
 * Whether a text is one segment of an SMS: 160 characters of the GSM alphabet, of which some count twice, or 70 UTF-16 code
 * units if it has any other character. Carriers charge for each segment.
 */
export function isOneSegment(text: string): boolean {
  const units = gsm7Units(text)
  return units === undefined ? text.length <= UCS_2_LIMIT : units <= GSM_7_LIMIT
}
