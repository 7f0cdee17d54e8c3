/** The code of six digits in a message. */
export function codeIn(text: string | undefined): string {
  const code = /\b\d{6}\b/.exec(text ?? '')?.[0]
  if (!code) throw new Error('The message has no code.')
  return code
}
