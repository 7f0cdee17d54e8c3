import type { Request } from 'express'
import * as z from 'zod'

const anAddress = z.union([z.ipv4(), z.ipv6()])

// Some proxies pass a port on with the address, in brackets when it is IPv6.
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/

/**
 * The browser's address as `trust proxy` lets Express see it; an IPv4 address is written as one. Nothing when it is
 * none: what a proxy passes on may be anything.
 */
export function addressOf({ ip = '' }: Request): string | undefined {
  const [, six, four] = WITH_PORT.exec(ip) ?? []
  const address = (six ?? four ?? ip).replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return anAddress.safeParse(address).data
}

/**
 * The address that limits count by (R31). An address of this very machine is a browser on it, or a proxy that Express
 * was not told to look behind: it stands for nobody in particular, so it is not counted.
 */
export function clientAddressOf(req: Request): string | undefined {
  const address = addressOf(req)
  return address === '::1' || address?.startsWith('127.') ? undefined : address
}
