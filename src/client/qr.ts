import { readJson } from '../json.js'

/** How many levels of a response are searched. */
const MAX_DEPTH = 4

/** How the image formats of a QR code start. */
const IMAGE_FORMATS: readonly { readonly type: string; readonly starts: (bytes: Buffer) => boolean }[] = [
  {
    type: 'image/png',
    starts: (bytes) => bytes.subarray(0, 8).equals(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])),
  },
  { type: 'image/jpeg', starts: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  { type: 'image/svg+xml', starts: (bytes) => isSvg(bytes.toString('utf8')) },
]

/** The QR image in a response as a `data:` URL, found by its content, since the published API names no field for it. */
export function findQr(value: unknown): string | undefined {
  return findText(value, drawImage)
}

/** The QR image if the body is the image itself, plain or as a JSON string. */
export function bareImage(body: string): string | undefined {
  const text = body.trim()
  return text.startsWith('"') ? findQr(readJson(text)) : drawImage(text)
}

/** Finds the `otpauth://` URI in any field of a response. */
export function findOtpauthUri(value: unknown): string | undefined {
  return findText(value, (text) => (/^otpauth:\/\/totp\/\S{1,1024}$/.test(text) ? text : undefined))
}

function findText<Found>(
  value: unknown,
  recognize: (text: string) => Found | undefined,
  depth = 0,
): Found | undefined {
  if (typeof value === 'string') return recognize(value.trim())
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return undefined
  for (const part of Object.values(value)) {
    const found = findText(part, recognize, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function drawImage(text: string): string | undefined {
  if (isSvg(text)) return dataUrl('image/svg+xml', Buffer.from(text, 'utf8'))
  const base64 = text.replace(/^data:image\/[\w.+-]+(?:;[\w=-]+)*;base64,/, '').replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/_-]{32,}={0,2}$/.test(base64)) return undefined
  const bytes = Buffer.from(base64, 'base64')
  const format = IMAGE_FORMATS.find(({ starts }) => starts(bytes))
  return format && dataUrl(format.type, bytes)
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

// The root element can follow a declaration, comments of a generator, and a document type.
const SVG_START = /^\uFEFF?(?:<\?xml[^>]*\?>|<!--(?:(?!-->)[\s\S])*-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]/i

function isSvg(text: string): boolean {
  return SVG_START.test(text) && /<\/svg>\s*$/i.test(text)
}
