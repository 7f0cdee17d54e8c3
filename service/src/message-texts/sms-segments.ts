import { gsm7Units } from './gsm-7.js'

const GSM_7_LIMIT = 160
const UCS_2_LIMIT = 70
// Each of several segments has a header of six octets.
const GSM_7_PART = 153
const UCS_2_PART = 67

/** The length of an SMS. */
export interface SmsSize {
  /** The alphabet in which it is sent. */
  readonly alphabet: 'GSM 7-bit' | 'UCS-2'
  /** Characters of the alphabet, some of which count twice. */
  readonly units: number
  /** How many of them fit into one segment. */
  readonly limit: number
  /** How many segments it has. */
  readonly segments: number
}

/** The length of a text as an SMS, and the number of segments that carriers charge for. */
export function smsSize(text: string): SmsSize {
  const units = gsm7Units(text)
  if (units === undefined) {
    const segments = isOneSegment(text) ? 1 : Math.ceil(text.length / UCS_2_PART)
    return { alphabet: 'UCS-2', units: text.length, limit: UCS_2_LIMIT, segments }
  }
  const segments = isOneSegment(text) ? 1 : Math.ceil(units / GSM_7_PART)
  return { alphabet: 'GSM 7-bit', units, limit: GSM_7_LIMIT, segments }
}

/**
 * Whether a text is one segment of an SMS: 160 characters of the GSM alphabet, of which some count twice, or 70 UTF-16 code
 * units if it has any other character. Carriers charge for each segment.
 */
export function isOneSegment(text: string): boolean {
  const units = gsm7Units(text)
  return units === undefined ? text.length <= UCS_2_LIMIT : units <= GSM_7_LIMIT
}
