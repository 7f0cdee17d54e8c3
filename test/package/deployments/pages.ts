import { expect } from 'vitest'
import type { Browser } from './browser.js'

const PAGES = [
  '/',
  '/account',
  '/mfa',
  '/mfa/verify',
  '/mfa/recover',
  '/mfa/enroll-app',
  '/mfa/backup',
  '/mfa/keys',
  '/mfa/devices',
]

/** Expects that no page of the app redirects in a circle, whichever process answers. */
export async function expectNoCircle({ one, other }: Browser): Promise<void> {
  for (const page of PAGES) {
    const seen = [page]
    for (;;) {
      const agent = seen.length % 2 ? one : other
      const { headers } = await agent.get(seen.at(-1) ?? '').set('accept', 'text/html')
      if (!headers.location) break
      expect(seen).not.toContain(headers.location)
      seen.push(headers.location)
    }
  }
}

/** The fields that a browser would post with the form of a page, apart from lists to choose from. */
export function fieldsOn(page: string): Readonly<Record<string, string | readonly string[]>> {
  const inputs = [...page.matchAll(/<input\b[^>]*>/g)].map(([tag]) => ({
    name: attribute(tag, 'name'),
    value: attribute(tag, 'value') || (/\bchecked\b/.test(tag) ? 'on' : ''),
    isPosted: !tag.includes('type="checkbox"') || /\bchecked\b/.test(tag),
  }))
  const posted = inputs.filter(({ name, isPosted }) => name && isPosted)
  return Object.fromEntries(
    posted.map(({ name, value }) => {
      // Boxes of one list share their name.
      const all = posted.filter((one) => one.name === name).map((one) => one.value)
      return [name, all.length > 1 ? all : value]
    }),
  )
}

function attribute(tag: string, name: string): string {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
}
