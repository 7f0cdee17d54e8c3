import type { Request } from 'express'
import type { Settings } from '../settings.js'

/** How long a host's own words may be that we keep. */
const MAX_LENGTH = 60

/** Where a browser is, in the host's words. Nothing when the host cannot tell, or fails at it: that keeps no notice back. */
export function placeOf(
  req: Request,
  { place, logger }: Pick<Settings, 'place' | 'logger'>,
): string | undefined {
  try {
    return place?.(req)?.trim().slice(0, MAX_LENGTH) || undefined
  } catch (error) {
    logger.error('countersign: the option place failed; what it was asked for goes on without a place', error)
    return undefined
  }
}
