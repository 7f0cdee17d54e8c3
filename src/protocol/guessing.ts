/** The numbers that the probability of guessing a code follows from. */
export interface GuessingLimits {
  /** How many unforgiven failures disable a factor, so how many codes an attacker can try before it is bound again. */
  readonly failuresBeforeDisable: number
  /** How many different codes are valid at a time. Defaults to 2: an authenticator app's current and previous step. */
  readonly validCodes?: number
  /** Digits of a code. Defaults to 6. */
  readonly digits?: number
}

/** The greatest probability of guessing a code of a factor before it is disabled (R26, R96). */
export function guessingBound({ failuresBeforeDisable, validCodes = 2, digits = 6 }: GuessingLimits): number {
  return (failuresBeforeDisable * validCodes) / 10 ** digits
}

/** The bound with its arithmetic, such as `100 × 2 ÷ 10⁶ = 2·10⁻⁴`. */
export function guessingArithmetic({
  failuresBeforeDisable,
  validCodes = 2,
  digits = 6,
}: GuessingLimits): string {
  const bound = guessingBound({ failuresBeforeDisable, validCodes, digits })
  const [mantissa, exponent] = Number(bound.toPrecision(3)).toExponential().split('e')
  return `${failuresBeforeDisable} × ${validCodes} ÷ 10${formatPower(digits)} = ${mantissa}·10${formatPower(Number(exponent))}`
}

/** The bound as a sentence for diagnostics. */
export function guessingSentence(limits: GuessingLimits): string {
  return `An attacker who knows the password guesses a code of one factor with a probability of at most ${guessingArithmetic(limits)}: guesses before the factor is disabled, times codes that are valid at a time, out of all codes.`
}

function formatPower(exponent: number): string {
  return String(exponent).replace(/[-\d]/g, (sign) =>
    sign === '-' ? '⁻' : ('⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)] ?? ''),
  )
}
