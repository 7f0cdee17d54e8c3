import { PAGE_HEADERS } from './probe-login.js'
import { type ProbeAgent, runningApp } from './probed-app.js'

/** A request of a browser to an app, such as its sign-in. */
export interface AppRequest {
  readonly method: string
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: 'form' | 'json'
  /** The page with the form, whose hidden fields are sent too. Without it, and for JSON, there are none. */
  readonly page?: string | undefined
  /** The origin of an identity provider. If the app redirects there, the fields are for the forms of its pages. */
  readonly provider?: string | undefined
}

/** The options to add to a command if the app refuses a request. */
export function formHint({ method, body, path, page }: AppRequest): string {
  if (body !== 'form' || method === 'GET') return ''
  const elsewhere =
    page === path ? ' If its form, with a CSRF token, is at another path, name that with --sign-in-page.' : ''
  return ` Add --body json if the login takes JSON.${elsewhere}`
}

const PROVIDER_MS = 15_000
const MOST_PAGES = 12

/** Sends the fields, with the hidden fields of the page's form, which hold CSRF tokens. */
export async function sendRequest(
  agent: ProbeAgent,
  request: AppRequest,
  origin: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { method, path, fields, body, page, provider } = request
  const isForm = body === 'form'
  const html = isForm && method !== 'GET' && page !== undefined ? await fetchText(agent, page) : ''
  const sent = { ...listHiddenFields(findForm(html, Object.keys(fields))), ...fields }
  const texts = Object.entries(sent).map(([name, value]): [string, string] => [name, String(value)])
  const text = isForm ? new URLSearchParams(texts).toString() : JSON.stringify(sent)
  const answer = await agent(path, {
    method,
    headers: {
      ...(isForm && PAGE_HEADERS),
      Origin: origin,
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      ...headers,
    },
    // A link in an email has no body.
    ...(method !== 'GET' && { body: text }),
  })
  return provider === undefined ? answer : passProvider(agent, answer, { origin, provider, fields })
}

/**
 * Follows the redirect of an app to its identity provider, fills in the forms there, and returns the response of the app to the redirect
 * back. No other redirect is followed.
 * @throws {Error} if the provider does not lead back to the app.
 */
async function passProvider(
  agent: ProbeAgent,
  first: Response,
  { origin, provider, fields }: Pick<AppRequest, 'fields'> & Record<'origin' | 'provider', string>,
): Promise<Response> {
  const there = runningApp(provider, {}, { timeoutMs: PROVIDER_MS }).agent()
  let answer = first
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const at = new URL(answer.url)
    const location = answer.headers.get('Location')
    const to = location !== null && URL.canParse(location, at.href) ? new URL(location, at) : undefined
    if (at.origin !== provider && to?.origin !== provider) return answer
    const html = await answer.text()
    if (to?.origin === origin) return agent(to.href, { headers: PAGE_HEADERS })
    if (to && to.origin !== provider)
      throw new Error(`The identity provider leads to ${to.origin}, and the app is at ${origin}.`)
    answer = await (to ? there(to.href, { headers: PAGE_HEADERS }) : submitForm(there, html, at, fields))
  }
  throw new Error(`The identity provider does not lead back to the app within ${MOST_PAGES} pages.`)
}

/** @throws {Error} if the page has no form, or one that posts to another origin. */
async function submitForm(agent: ProbeAgent, html: string, page: URL, fields: AppRequest['fields']) {
  // A page that asks for consent has none of the fields.
  const form = findForm(html, Object.keys(fields)) || findForm(html, [])
  const action = new URL(attribute(form, 'action') ?? '', page)
  if (form === '' || action.origin !== page.origin)
    throw new Error(`The identity provider has no form at ${page.pathname} that could be filled in.`)
  return sendRequest(
    agent,
    { method: 'POST', path: action.href, fields: { ...listHiddenFields(form), ...fields }, body: 'form' },
    page.origin,
  )
}

async function fetchText(agent: ProbeAgent, path: string): Promise<string> {
  const answer = await agent(path, { headers: PAGE_HEADERS })
  return answer.text()
}

/** The form that has one of these fields; without a name, the first form. Empty if there is none. */
function findForm(html: string, names: readonly string[]): string {
  const forms = [...html.matchAll(/<form\b[\s\S]*?<\/form>/gi)].map(([form]) => form)
  const has = (form: string) =>
    names.length === 0 || listInputs(form).some((input) => names.includes(attribute(input, 'name') ?? ''))
  return forms.find(has) ?? ''
}

function listHiddenFields(form: string): Record<string, string> {
  const hidden = listInputs(form).filter((input) => attribute(input, 'type')?.toLowerCase() === 'hidden')
  return Object.fromEntries(
    hidden.map((input) => [attribute(input, 'name') ?? '', attribute(input, 'value') ?? '']),
  )
}

function listInputs(form: string): string[] {
  return [...form.matchAll(/<input\b[^>]*>/gi)].map(([input]) => input)
}

/** The value of an attribute of a tag of HTML. */
export function attribute(tag: string, name: string): string | undefined {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i')
  const [, double, single, bare] = pattern.exec(tag) ?? []
  const value = double ?? single ?? bare
  return value === undefined ? undefined : decodeHtml(value)
}

/** Text of HTML without its character references. */
export function decodeHtml(text: string): string {
  const named = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' }
  return text
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (whole, hex?: string, decimal?: string) => {
      const point = hex ? Number.parseInt(hex, 16) : Number(decimal)
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole
    })
    .replace(/&(amp|quot|apos|lt|gt);/g, (_, entity: keyof typeof named) => named[entity])
}
