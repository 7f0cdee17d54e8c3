import type { Request } from 'express'
import type { Settings } from '../../options/settings.js'
import { pickGiven } from '../../shape.js'
import { browserName } from '../../stores/trust/browser-name.js'
import { clientName } from './client-name.js'

/** The length at which a location is cut. */
const MAX_LENGTH = 60

type LocationSettings = Pick<Settings, 'location' | 'logger'>

/** The browser's location, as the host describes it. `undefined` if the host does not know it or its function throws. */
function findLocation(req: Request, { location, logger }: LocationSettings): string | undefined {
  try {
    return location?.(req)?.trim().slice(0, MAX_LENGTH) || undefined
  } catch (error) {
    logger.error('countersign: the option for the location threw, so the location is left out', error)
    return undefined
  }
}

/** The browser of a request, or the app of a client without cookies, and where it is. */
export function describeBrowser(req: Request, settings: LocationSettings) {
  return { ...clientName(req), ...pickGiven({ location: findLocation(req, settings) }) }
}

/** The same by names from our lists only: what the service may put into the email with a code. */
export function signInOf(req: Request, settings: LocationSettings) {
  return {
    ...browserName(req.get('user-agent')),
    ...pickGiven({ location: findLocation(req, settings) }),
  }
}
