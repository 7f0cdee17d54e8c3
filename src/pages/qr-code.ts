import { inflateSync } from 'node:zlib'
import { imageDataUrl } from './html.js'

/** An image of a QR code, and its size in CSS pixels if that is known. */
export interface QrImage {
  readonly src: string
  readonly side?: number
}

/** The light margin that scanners need, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4
/** A finder pattern, the square in a corner, is this many modules wide. */
const FINDER = 7
/** The size of a module on the page, in CSS pixels. */
const MODULE_PX = 4

/**
 * The QR code as it is shown. A PNG is drawn again as vectors with sharp edges: a browser that scales pixels makes some modules
 * wider than others, and some scanners then fail. Any other image is shown as it is.
 */
export function qrImage(url: string | undefined): QrImage | undefined {
  const src = imageDataUrl(url)
  if (src === undefined) return undefined
  const base64 = /^data:image\/png;base64,(.+)$/.exec(src)?.[1]
  return (base64 !== undefined && redrawn(Buffer.from(base64, 'base64'))) || { src }
}

function redrawn(file: Buffer): QrImage | undefined {
  try {
    const pixels = pngPixels(file)
    const modules = pixels && modulesIn(pixels)
    return modules && vectors(modules)
  } catch {
    // A damaged file is shown as it is, and the key can be typed.
    return undefined
  }
}

/** The rows of modules, dark ones as true; `undefined` if the image is not a QR code in whole pixels. */
function modulesIn({ width, height, isDark }: Pixels): boolean[][] | undefined {
  const first = Array.from({ length: height }, (_, y) => y)
    .map((y) => ({ y, x: Array.from({ length: width }, (_, x) => x).find((x) => isDark(x, y)) }))
    .find(({ x }) => x !== undefined)
  if (first?.x === undefined) return undefined
  const { x: left, y: top } = first
  let run = 0
  while (isDark(left + run, top)) run++
  const size = run / FINDER
  const right = Array.from({ length: width }, (_, x) => width - 1 - x).find((x) => isDark(x, top)) ?? 0
  const side = (right + 1 - left) / size
  // A version has four modules more than the one before (ISO/IEC 18004 §7.1).
  if (!Number.isInteger(size) || !Number.isInteger((side - 17) / 4) || side < 21) return undefined
  const middle = (module: number) => Math.floor((module + 0.5) * size)
  return Array.from({ length: side }, (_, row) =>
    Array.from({ length: side }, (_, column) => isDark(left + middle(column), top + middle(row))),
  )
}

function vectors(modules: boolean[][]): QrImage {
  const side = modules.length + 2 * QUIET_ZONE
  const path = modules.flatMap((row, y) => {
    const runs: string[] = []
    for (let x = 0; x < row.length; x++) {
      const start = x
      while (row[x]) x++
      if (x > start)
        runs.push(`M${start + QUIET_ZONE} ${y + QUIET_ZONE}h${x - start}v1H${start + QUIET_ZONE}z`)
    }
    return runs
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side * MODULE_PX}" height="${side * MODULE_PX}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${path.join('')}"/></svg>`
  return {
    src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
    side: side * MODULE_PX,
  }
}

/** The pixels of an image: whether each is dark. */
interface Pixels {
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
function pngPixels(file: Buffer): Pixels | undefined {
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
