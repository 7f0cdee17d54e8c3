import type { Request } from 'express'
import * as z from 'zod'
import type { Settings } from '../../options/settings.js'
import { hostBanner } from '../../pages/layout.js'
import { languageKey, pickLocale } from '../../protocol/language.js'
import { getTokenLogin } from '../../session/transport.js'
import { chosenLanguage } from './cookies.js'

/** So many values of a header are remembered. Browsers and programs send far fewer. */
const MOST_VALUES = 200

/** A value that is longer is not remembered, so that a client cannot fill the memory. */
const MOST_CHARACTERS = 300

/** A function of the header `name` alone, remembered for each value, because parsing is not cheap. */
export function rememberByHeader<Result>(
  name: 'accept' | 'accept-language',
  read: (req: Request) => Result,
): (req: Request) => Result {
  const results = new Map<string, { readonly result: Result }>()
  return (req) => {
    const value = req.headers[name] ?? ''
    const known = results.get(value)
    if (known) return known.result
    const result = read(req)
    if (value.length > MOST_CHARACTERS) return result
    if (results.size >= MOST_VALUES) results.clear()
    results.set(value, { result })
    return result
  }
}

const accepted = rememberByHeader('accept', (req) => req.accepts(['json', 'html']))

/** Whether to respond with a page. A client without a preference, as most programs are, gets JSON, and so does one with tokens. */
export function wantsHtml(req: Request): boolean {
  return accepted(req) === 'html' && !getTokenLogin(req)
}

/** Whether the browser requests a part of a page, such as an image, rather than a page or data. */
export function isSubresource(req: Request): boolean {
  const destination = req.get('sec-fetch-dest')
  if (destination) return !['document', 'iframe', 'frame', 'empty'].includes(destination)
  return accepted(req) === false
}

/** Whether a request has `Authorization` of a kind that no browser sends by itself. */
export function sendsToken(req: Request): boolean {
  const authorization = req.get('authorization')
  return authorization !== undefined && !/^(?:basic|digest|negotiate|ntlm)\b/i.test(authorization)
}

/** Whether a request comes from a page of this site or from a program, not from another site (R13). */
export function isSameOrigin(req: Request): boolean {
  // A form of another site cannot send a reference or a token.
  if (getTokenLogin(req) && (req.get('mfa-login') !== undefined || sendsToken(req))) return true
  const site = req.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = req.get('origin')
  if (origin === undefined) return true
  const [, scheme, host] = ORIGIN.exec(origin) ?? []
  // Anyone on the network can forge a page that was loaded without TLS. If this request itself seems to have none, a
  // proxy that Express does not know about may have it.
  return host !== undefined && isOwnHost(req, host) && !(req.secure && scheme === 'http')
}

/** Scheme and host as browsers send them (RFC 6454 §6.2), `null` for a page without an origin. */
const ORIGIN = /^([a-z][a-z\d+.-]*):\/\/(.+)$/

/** Whether the browser requested this host, behind a trusted proxy as forwarded. Only compared (R16). */
export function isOwnHost(req: Request, host: string): boolean {
  const trusts: unknown = req.app.get('trust proxy fn')
  const forwarded = req.get('x-forwarded-host')?.split(',')[0]?.trim()
  const trusted = forwarded && typeof trusts === 'function' && trusts(req.socket.remoteAddress, 0)
  return host === (trusted ? forwarded : req.get('host'))
}

const anAddress = z.union([z.ipv4(), z.ipv6()])

// Some proxies add the port to the address, and put an IPv6 address into brackets.
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/

/** The client's IP address by `trust proxy`, without the prefix of a mapped IPv4 address. */
export function getAddress({ ip = '' }: Request): string | undefined {
  const [, six, four] = WITH_PORT.exec(ip) ?? []
  const address = (six ?? four ?? ip).replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  return anAddress.safeParse(address).data
}

/** The client address for limits (R31); none for a loopback address, which may belong to an unknown proxy. */
export function getClientAddress(req: Request): string | undefined {
  const address = getAddress(req)
  return address === '::1' || address?.startsWith('127.') ? undefined : address
}

/** The languages that a request prefers, best first; if the app offers languages, only offered ones. */
export function listLocales(req: Request, settings: Settings): readonly string[] {
  const { languages } = settings
  const chosen = languages.offer && !languages.remember ? chosenLanguage(req, settings.users) : undefined
  const preferred = listPreferred(req, settings)
  return listOfferedLocales(chosen === undefined ? preferred : [chosen, ...preferred], settings)
}

/** The languages in which a user approves something, best first. No request chooses them (R146). */
export function approvalLocales(user: Express.User, settings: Settings): readonly string[] {
  const own = settings.languages.ofUser?.(user)
  return listOfferedLocales(own ? [own] : [], settings)
}

function listOfferedLocales(
  preferred: readonly string[],
  { languages: { offer } }: Settings,
): readonly string[] {
  if (!offer) return preferred
  const offered = new Map(offer.map((tag) => [languageKey(tag), tag]))
  const [first = 'en'] = offer
  // A language of the host's own may lack notices; they are then in the next offered language.
  return [offered.get(pickLocale(preferred, offered)) ?? first, ...offer]
}

const acceptedLanguages = rememberByHeader('accept-language', (req) =>
  req.acceptsLanguages().filter((tag) => tag !== '*'),
)

function listPreferred(req: Request, { languages }: Settings): readonly string[] {
  const given = languages.locale?.(req)
  return given ? [given] : acceptedLanguages(req)
}

/** A sentence for the host's pages about the end of a running grace period or about a weak app, in the language of the request. */
export function renderBanner(
  req: Request,
  about: Parameters<typeof hostBanner>[1],
  settings: Settings,
): string {
  return hostBanner(listLocales(req, settings), about, settings.languages.texts)
}
