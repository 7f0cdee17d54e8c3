import { PAGE_HEADERS } from './probe-login.js'
import type { ProbeAgent } from './probed-app.js'

/** A request of a browser to an app, such as its sign-in. */
export interface AppRequest {
  readonly method: string
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: 'form' | 'json'
  /** The page with the form, whose hidden fields are sent too. Without it, and for JSON, there are none. */
  readonly page?: string | undefined
}

/** Sends the fields, with the hidden fields of the page's form, which hold CSRF tokens. */
export async function sendRequest(
  agent: ProbeAgent,
  { method, path, fields, body, page }: AppRequest,
  origin: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isForm = body === 'form'
  const html = isForm && method !== 'GET' && page !== undefined ? await textOf(agent, page) : ''
  const sent = { ...hiddenFields(html, Object.keys(fields)), ...fields }
  const texts = Object.entries(sent).map(([name, value]): [string, string] => [name, String(value)])
  const text = isForm ? new URLSearchParams(texts).toString() : JSON.stringify(sent)
  return agent(path, {
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
}

async function textOf(agent: ProbeAgent, path: string): Promise<string> {
  const answer = await agent(path, { headers: PAGE_HEADERS })
  return answer.text()
}

/** The hidden fields of the form that has one of these fields; without a name, of the first form. */
function hiddenFields(html: string, names: readonly string[]): Record<string, string> {
  const forms = [...html.matchAll(/<form\b[\s\S]*?<\/form>/gi)].map(([form]) =>
    [...form.matchAll(/<input\b[^>]*>/gi)].map(([input]) => input),
  )
  const has = (inputs: readonly string[]) =>
    names.length === 0 || inputs.some((one) => names.includes(attribute(one, 'name') ?? ''))
  const hidden =
    forms.find(has)?.filter((input) => attribute(input, 'type')?.toLowerCase() === 'hidden') ?? []
  return Object.fromEntries(
    hidden.map((input) => [attribute(input, 'name') ?? '', attribute(input, 'value') ?? '']),
  )
}

/** The value of an attribute of a tag of HTML. */
export function attribute(tag: string, name: string): string | undefined {
  const pattern = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i')
  const [, double, single, bare] = pattern.exec(tag) ?? []
  const value = double ?? single ?? bare
  return value === undefined ? undefined : decoded(value)
}

/** Text of HTML without its character references. */
export function decoded(text: string): string {
  const named = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' }
  return text
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (whole, hex?: string, decimal?: string) => {
      const point = hex ? Number.parseInt(hex, 16) : Number(decimal)
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole
    })
    .replace(/&(amp|quot|apos|lt|gt);/g, (_, entity: keyof typeof named) => named[entity])
}
