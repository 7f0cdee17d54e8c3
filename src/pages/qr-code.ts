import { encodeQR } from 'qr'
import { imageDataUrl, otpauthLink } from './html.js'

/** An image of a QR code, and its size in CSS pixels if that is known. */
export interface QrImage {
  readonly src: string
  readonly side?: number
}

/** The light margin that scanners need, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4
/** The size of a module on the page, in CSS pixels. */
const MODULE_PX = 4

/** The QR code: of an `otpauth:` address as vectors with sharp edges, else the picture of the service. */
export function qrImage(uri: string | undefined, picture: string | undefined): QrImage | undefined {
  const address = otpauthLink(uri)
  if (address !== undefined) return vectors(encodeQR(address, 'raw', { border: QUIET_ZONE, ecc: 'medium' }))
  const src = imageDataUrl(picture)
  return src === undefined ? undefined : { src }
}

function vectors(modules: readonly (readonly boolean[])[]): QrImage {
  const side = modules.length
  const path = modules.flatMap((row, y) => {
    const runs: string[] = []
    for (let x = 0; x < side; x++) {
      const start = x
      while (row[x]) x++
      if (x > start) runs.push(`M${start} ${y}h${x - start}v1H${start}z`)
    }
    return runs
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side * MODULE_PX}" height="${side * MODULE_PX}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${path.join('')}"/></svg>`
  return {
    src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
    side: side * MODULE_PX,
  }
}
