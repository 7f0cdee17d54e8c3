import jsqr from 'jsqr'
import { PNG } from 'pngjs'

/** Reads the text in the QR code of a `data:` URL with a PNG image. */
export function readQrCode(dataUrl: string): string {
  const base64 = /^data:image\/png;base64,(.+)$/.exec(dataUrl)?.[1] ?? ''
  const image = PNG.sync.read(Buffer.from(base64, 'base64'))
  // jsqr is a CommonJS module whose types promise a default export of its own.
  const decode = jsqr as unknown as typeof jsqr.default
  const found = decode(new Uint8ClampedArray(image.data), image.width, image.height)
  if (!found) throw new Error('The image has no readable QR code.')
  return found.data
}
