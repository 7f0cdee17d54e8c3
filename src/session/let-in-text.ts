import { isStrength } from '../protocol/factor.js'
import type { ExemptRecord, MfaRecord, TrustedRecord } from './record.js'
import { invert, readTime } from './text-parts.js'

/*
 * The meaning of the text of a record of a decision that let a session in:
 *
 *   2t …  <device> <factors> <settled at> <changes>
 *   2e …  p|r|n[,<grace until>[,<strength>]] <settled at> <changes>
 */

const EXEMPTION_LETTERS: Readonly<Record<ExemptRecord['exemption'], string>> = {
  policy: 'p',
  proven: 'r',
  not_required: 'n',
}
const EXEMPTION_OF = invert(EXEMPTION_LETTERS)

/** The decision of a record that let a session in, as text. */
export function letInText(record: TrustedRecord | ExemptRecord): string {
  const { at, changes } = record.settled
  const settled = `${at.toString(36)} ${changes.toString(36)}`
  if (record.stage === 'trusted') return `${record.device} ${record.factors} ${settled}`
  const { exemption, grace } = record
  const parts = grace ? [grace.until.toString(36), ...(grace.minStrength ? [grace.minStrength] : [])] : []
  return `${[EXEMPTION_LETTERS[exemption], ...parts].join()} ${settled}`
}

/** The record with these parts, of which the first is its stage and the fourth the first one written by `letInText`. */
export function readLetIn(
  parts: readonly string[],
  base: Omit<MfaRecord, 'stage'>,
): TrustedRecord | ExemptRecord | undefined {
  const { length } = parts
  const [stage, , , first = '', factors = ''] = parts
  const at = readTime(parts.at(-2))
  const changes = readTime(parts.at(-1))
  if (at === undefined || changes === undefined) return undefined
  const settled = { at, changes }
  if (stage === '2t' && length === 7 && first !== '') {
    return { stage: 'trusted', ...base, device: first, factors, settled }
  }
  const exempted = stage === '2e' && length === 6 ? readExemption(first) : undefined
  return exempted && { stage: 'exempt', ...base, settled, ...exempted }
}

function readExemption(text: string): Pick<ExemptRecord, 'exemption' | 'grace'> | undefined {
  const [letter = '', time, minStrength, ...rest] = text.split(',')
  const exemption = EXEMPTION_OF[letter]
  if (!exemption || rest.length > 0) return undefined
  if (time === undefined) return { exemption }
  const until = readTime(time)
  if (until === undefined) return undefined
  if (minStrength === undefined) return { exemption, grace: { until } }
  return isStrength(minStrength) ? { exemption, grace: { until, minStrength } } : undefined
}
