import { inflateSync } from 'node:zlib'

/** The pixels of an image: whether each is dark. */
export interface Pixels {
  readonly width: number
  readonly height: number
  isDark(x: number, y: number): boolean
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
/** Samples for each pixel, by color type. */
const CHANNELS: Readonly<Partial<Record<number, number>>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const PALETTE = 3
/** A QR code as an image is far smaller. */
const MAX_SIDE = 2_000

/**
 * Reads a PNG image, as far as QR codes use the format (W3C PNG, third edition): every color type without interlacing, with at
 * most 8 bits for each sample. `undefined` for any other image.
 */
export function pngPixels(file: Buffer): Pixels | undefined {
  if (!file.subarray(0, 8).equals(SIGNATURE)) return undefined
  const header = chunks(file, 'IHDR')[0]
  if (header?.length !== 13) return undefined
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, type, , , interlaced] = header.subarray(8)
  const channels = CHANNELS[type ?? -1]
  if (width > MAX_SIDE || height > MAX_SIDE || interlaced !== 0) return undefined
  if (channels === undefined || depth === undefined || ![1, 2, 4, 8].includes(depth)) return undefined

  const bytesPerRow = Math.ceil((width * channels * depth) / 8)
  const maxOutputLength = (bytesPerRow + 1) * height
  const packed = inflateSync(Buffer.concat(chunks(file, 'IDAT')), { maxOutputLength })
  if (packed.length < maxOutputLength) return undefined
  const rows = unfiltered(packed, bytesPerRow, Math.max(1, (channels * depth) >> 3), height)
  const [palette] = chunks(file, 'PLTE')
  const mask = 2 ** depth - 1
  const sample = (row: Buffer, index: number) => {
    const bit = index * depth
    return ((row[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & mask
  }
  return {
    width,
    height,
    isDark(x, y) {
      const row = rows[y]
      if (!row) return false
      const first = sample(row, x * channels)
      // Green is what a palette color or an RGB pixel looks brightest by.
      if (type === PALETTE) return (palette?.[first * 3 + 1] ?? 255) < 128
      return sample(row, x * channels + (channels > 2 ? 1 : 0)) <= mask >> 1
    },
  }
}

/** The contents of all chunks of a kind. */
function chunks(file: Buffer, kind: string): Buffer[] {
  const found: Buffer[] = []
  for (let at = 8; at + 8 <= file.length; at += file.readUInt32BE(at) + 12) {
    const name = file.toString('latin1', at + 4, at + 8)
    if (name === kind) found.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
  }
  return found
}

/** Undoes the filter of each row (§9.2). */
function unfiltered(packed: Buffer, bytesPerRow: number, bytesPerPixel: number, height: number): Buffer[] {
  const rows: Buffer[] = []
  for (let y = 0; y < height; y++) {
    const start = y * (bytesPerRow + 1)
    const filter = packed[start]
    const row = Buffer.from(packed.subarray(start + 1, start + 1 + bytesPerRow))
    const above = rows[y - 1]
    for (let at = 0; at < row.length; at++) {
      const left = row[at - bytesPerPixel] ?? 0
      const up = above?.[at] ?? 0
      const corner = at < bytesPerPixel ? 0 : (above?.[at - bytesPerPixel] ?? 0)
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      row[at] = (row[at] ?? 0) + predicted
    }
    rows.push(row)
  }
  return rows
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner
  const [toLeft, toUp, toCorner] = [left, up, corner].map((value) => Math.abs(estimate - value))
  if (toLeft === undefined || toUp === undefined || toCorner === undefined) return 0
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}
