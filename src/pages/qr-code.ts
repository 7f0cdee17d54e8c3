import { type Pixels, pngPixels } from './png-pixels.js'
import { imageDataUrl } from './safe-url.js'

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
