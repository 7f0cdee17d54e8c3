import type { Request } from 'express'

/** The browser's address as `trust proxy` lets Express see it; an IPv4 address is written as one. */
export function addressOf({ ip }: Request): string | undefined {
  return ip?.replace(/^::ffff:(?=\d+\.)/, '')
}

/**
 * The address that limits count by (R31). An address of this very machine is a browser on it, or a proxy that Express
 * was not told to look behind: it stands for nobody in particular, so it is not counted.
 */
export function clientAddressOf(req: Request): string | undefined {
  const address = addressOf(req)
  return address === '::1' || address?.startsWith('127.') ? undefined : address
}
