/**
 * An application's name as a message may hold it: in one line, without the characters that turn text around or
 * cannot be seen, so that no name can add a line, a header or a word of its own making (R88).
 */
export function plainName(name: string): string {
  return (
    name
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
      .replace(/[\p{Cs}\p{Co}\p{Cn}\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, '')
      .replace(/\s+/g, ' ')
      // A line that begins with @ tells browsers which site a code is for.
      .replace(/^[@\s]+/, '')
      .trim()
  )
}
