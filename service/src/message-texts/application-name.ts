/**
 * An application's name as messages show it: on one line and without bidirectional controls and invisible characters,
 * so that a name cannot add a line, a header or text of its own (R88).
 */
export function displayedName(name: string): string {
  return (
    name
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
      .replace(/[\p{Cs}\p{Co}\p{Cn}\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, '')
      .replace(/\s+/g, ' ')
      // In an SMS, a line that begins with @ tells browsers which site a code is for.
      .replace(/^[@\s]+/, '')
      .trim()
  )
}
