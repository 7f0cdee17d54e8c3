import { crc32, deflateSync } from 'node:zlib'
import { encodeQR } from 'qr'

const PIXELS = 6
const QUIET_MODULES = 4

/** A QR code of `text` as a black-and-white PNG in base64, with the quiet zone that readers need. */
export function qrImage(text: string): string {
  const modules = encodeQR(text, 'raw', { border: QUIET_MODULES, ecc: 'medium' })
  return png(modules).toString('base64')
}

function png(modules: readonly (readonly boolean[])[]): Buffer {
  const size = modules.length * PIXELS
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header[8] = 1 // one bit per pixel, grayscale
  const rows = modules.flatMap((row) => new Array<Buffer>(PIXELS).fill(scanline(row, size)))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function scanline(row: readonly boolean[], size: number): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(size / 8))
  for (let x = 0; x < size; x++) {
    const black = row[Math.floor(x / PIXELS)] ?? false
    if (!black) line[1 + (x >> 3)] = (line[1 + (x >> 3)] ?? 0) | (0x80 >> (x & 7))
  }
  return line
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
