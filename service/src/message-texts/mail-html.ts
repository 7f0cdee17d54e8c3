/** The HTML form of an email: no links, images or scripts, and the code, if there is one, in large type. */
export function mailHtml(language: string, text: string, code?: string): string {
  const paragraphs = text
    .split('\n\n')
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`)
    .join('')
  const large = code
    ? `<p style="font:600 28px/1.4 monospace;letter-spacing:4px">${escapeHtml(code)}</p>`
    : ''
  return (
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"></head>` +
    `<body style="font:16px/1.5 sans-serif">${large}${paragraphs}</body></html>`
  )
}

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character)
}
