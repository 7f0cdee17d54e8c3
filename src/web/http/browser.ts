import type { Request } from 'express'
import type { Settings } from '../../options/settings.js'
import { onlyGiven } from '../../shape.js'
import { clientName } from './client-name.js'

/** The length at which a location is cut. */
const MAX_LENGTH = 60

/** The browser's location, as the host describes it. `undefined` if the host does not know it or its function throws. */
function locationOf(
  req: Request,
  { location, logger }: Pick<Settings, 'location' | 'logger'>,
): string | undefined {
  try {
    return location?.(req)?.trim().slice(0, MAX_LENGTH) || undefined
  } catch (error) {
    logger.error('countersign: the option for the location threw, so the location is left out', error)
    return undefined
  }
}

/** The browser of a request by names from our lists, and where it is. */
export function browserOf(req: Request, settings: Pick<Settings, 'location' | 'logger'>) {
  return { ...clientName(req), ...onlyGiven({ location: locationOf(req, settings) }) }
}
