import type { AppRequest } from '../../probe/app-request.js'
import { addressOf, listRoutes, type Operation, type RouteName } from '../../routes/routes.js'

/** A request to an operation of the plugin, whose routes are mounted at `mount`. */
export function requestTo(mount: string, name: RouteName, fields: AppRequest['fields'] = {}): AppRequest {
  return { ...addressOf(mount, name), fields, body: 'json' }
}

/** A request without fields to each operation of the plugin that is of a kind. */
export function requestsTo(mount: string, isWanted: (operation: Operation) => boolean): AppRequest[] {
  return listRoutes()
    .filter(isWanted)
    .map(({ name }) => requestTo(mount, name))
}
