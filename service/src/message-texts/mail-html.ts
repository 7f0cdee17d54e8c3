import type { Message } from '../delivery/message.js'
import { textsIn } from './catalogue.js'

/**
 * The HTML form of an email, with its code in large type: no links, images or scripts. Colors for light mode are in the elements, since many programs remove
 * style sheets; those for dark mode are in the style sheet. Codes are isolated from text that runs from right to left.
 */
export function mailHtml(message: Message): string {
  const { locale, name, code, codes } = message
  const text = message.text.trimEnd()
  const list = codes?.join('\n')
  const paragraphs = text.split('\n\n').map((paragraph) => {
    const lines = escapeHtml(paragraph).replaceAll('\n', '<br>')
    return paragraph === list
      ? `<p class="code" dir="ltr" style="${CODE_STYLE};font-size:18px;text-align:start">${lines}</p>`
      : `<p style="margin:0 0 16px">${lines}</p>`
  })
  const large = code
    ? `<p class="code" style="${CODE_STYLE};font-size:32px;letter-spacing:6px;text-align:center"><bdi dir="ltr">${escapeHtml(code)}</bdi></p>`
    : ''
  return (
    `<!doctype html><html lang="${locale}" dir="${textsIn(locale).dir}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">' +
    `<title>${escapeHtml(name)}</title><style>${STYLE}</style></head>` +
    `<body style="${BODY_STYLE}">${preheader(text)}` +
    `<div class="card" style="${CARD_STYLE}"><p style="margin:0 0 16px;font-weight:600"><bdi>${escapeHtml(name)}</bdi></p>` +
    `${large}${paragraphs.join('')}</div></body></html>`
  )
}

// In the list of emails, programs show the first text after the subject. Without the padding they would go on with the name.
function preheader(text: string): string {
  const [first = ''] = text.split('\n\n')
  return `<div aria-hidden="true" style="display:none;max-height:0;overflow:hidden">${escapeHtml(first)}${'&#847;&zwnj;&nbsp;'.repeat(40)}</div>`
}

const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
const BODY_STYLE = `margin:0;padding:24px 16px;background:#f2f3f7;color:#191c26;font:16px/1.5 ${FONT}`
const CARD_STYLE =
  'max-width:480px;margin:0 auto;padding:24px 24px 8px;background:#ffffff;border:1px solid #dcdfe8;border-radius:12px'
const CODE_STYLE =
  'margin:0 0 16px;padding:12px 16px;background:#eef1fd;color:#191c26;border-radius:8px;font-family:ui-monospace,Menlo,Consolas,monospace;font-weight:600;line-height:1.5'
// The elements have colors of their own, which only `!important` replaces.
const STYLE =
  ':root{color-scheme:light dark}@media (prefers-color-scheme:dark){' +
  'body{background:#101218!important;color:#eceef4!important}' +
  '.card{background:#191c25!important;border-color:#313645!important}' +
  '.code{background:#232a46!important;color:#eceef4!important}}'

function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character)
}
