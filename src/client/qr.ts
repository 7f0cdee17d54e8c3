/** How deep an answer is searched for a picture. */
const MAX_DEPTH = 4

/** First bytes of each kind of picture a QR code may come as. */
const PICTURES: readonly { readonly type: string; readonly starts: (bytes: Buffer) => boolean }[] = [
  {
    type: 'image/png',
    starts: (bytes) => bytes.subarray(0, 8).equals(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])),
  },
  { type: 'image/jpeg', starts: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  { type: 'image/svg+xml', starts: (bytes) => isSvg(bytes.toString('utf8')) },
]

/**
 * The picture in an answer as a `data:` URL, whatever field it stands in: known by what it is, since the published
 * interface does not show the field's name. `undefined` when there is none.
 */
export function findQr(value: unknown): string | undefined {
  return findText(value, asPicture)
}

/** A body that is itself the picture: as it stands, or as a JSON string. */
export function barePicture(body: string): string | undefined {
  const text = body.trim()
  if (!text.startsWith('"')) return asPicture(text)
  try {
    return findQr(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The `otpauth://` address in an answer, under any field. */
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

function asPicture(text: string): string | undefined {
  if (isSvg(text)) return dataUrl('image/svg+xml', Buffer.from(text, 'utf8'))
  const base64 = text.replace(/^data:image\/[\w.+-]+(?:;[\w=-]+)*;base64,/, '').replace(/\s+/g, '')
  if (!/^[A-Za-z0-9+/_-]{32,}={0,2}$/.test(base64)) return undefined
  const bytes = Buffer.from(base64, 'base64')
  const picture = PICTURES.find(({ starts }) => starts(bytes))
  return picture && dataUrl(picture.type, bytes)
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

// Before the root: a declaration, comments as generators leave them, a document type.
const SVG_START = /^\uFEFF?(?:<\?xml[^>]*\?>|<!--(?:(?!-->)[\s\S])*-->|<!DOCTYPE[^>]*>|\s)*<svg[\s>]/i

function isSvg(text: string): boolean {
  return SVG_START.test(text) && /<\/svg>\s*$/i.test(text)
}
