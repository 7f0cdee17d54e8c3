/** A code as a voice reads it: digit by digit. Without the commas "123456" would be a number in the thousands. */
export function spokenCode(code: string): string {
  // Not full stops: "1." is "first" in German.
  return [...code].join(', ')
}
