import type { Request } from 'express'
import { getTokenLogin } from '../../session/transport.js'
import { type BrowserName, browserName } from '../../stores/trust/browser-name.js'

/**
 * The browser of a request, or the app of a client without cookies, which names itself in `MFA-Client: "Name; platform"`. That is text
 * and proves nothing: words, in which nothing can be a link or a phone number.
 */
export function clientName(req: Request): BrowserName {
  const [, name = '', platform = ''] = /^"?([^;"]+);([^;"]+)"?$/.exec(req.get('mfa-client') ?? '') ?? []
  const [browser, system] = [name.trim(), platform.trim()]
  return getTokenLogin(req) && isPlainName(browser) && isPlainName(system)
    ? { browser, system }
    : browserName(req.get('user-agent'))
}

function isPlainName(text: string): boolean {
  const isShort = /^[a-z](?:[a-z0-9 ()-]|\.(?=\d)){0,31}$/i.test(text)
  return isShort && text.replace(/\D/g, '').length <= 6
}
