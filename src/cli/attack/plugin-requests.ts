import type { AppRequest } from '../../probe/app-request.js'
import { getRouteAddress, listRoutes, type Operation, type RouteName } from '../../routes/routes.js'

/** A request to an operation of the plugin, whose routes are mounted at `mount`. */
export function createPluginRequest(
  mount: string,
  name: RouteName,
  fields: AppRequest['fields'] = {},
): AppRequest {
  return { ...getRouteAddress(mount, name), fields, body: 'json' }
}

/** A request without fields to each operation of the plugin that is of a kind. */
export function listPluginRequests(mount: string, isWanted: (operation: Operation) => boolean): AppRequest[] {
  return listRoutes()
    .filter(isWanted)
    .map(({ name }) => createPluginRequest(mount, name))
}
