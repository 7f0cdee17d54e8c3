import type { AppRequest } from '../../probe/app-request.js'
import type { Answer } from '../../probe/probe-login.js'

/** The address of another site. */
export const FOREIGN = 'https://evil.example'

/** Under which names apps read where to go after a sign-in. */
const NAMES =
  'returnTo return_to return returnUrl next redirect redirect_uri redirectTo url continue goto back'.split(
    ' ',
  )

const addressFields = (address: string) => Object.fromEntries(NAMES.map((name) => [name, address]))

/** A request with a foreign return address in its query, and in that of its page. */
export function pollute(request: AppRequest, address = FOREIGN): AppRequest {
  const addQuery = (path: string) =>
    `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(addressFields(address))}`
  const { path, page } = request
  return { ...request, path: addQuery(path), page: page === undefined ? page : addQuery(page) }
}

/** A request with a foreign return address in its fields. */
export function addFields(request: AppRequest, address: string): AppRequest {
  return { ...request, fields: { ...addressFields(address), ...request.fields } }
}

/** Whether a browser, or a script that goes where the JSON says, ends at the foreign site. */
export function endsAtForeignSite({ text, location }: Answer, app: URL): boolean {
  const { host } = new URL(FOREIGN)
  if (location !== '' && URL.canParse(location, app.origin) && new URL(location, app).host === host)
    return true
  return /^\s*\{/.test(text) && new RegExp(`"(?:${NAMES.join('|')})"\\s*:\\s*"[^"]*${host}`).test(text)
}
