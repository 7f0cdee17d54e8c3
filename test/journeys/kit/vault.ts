import type { Page } from 'playwright-core'
import { INBOX_KEY } from '../../../example-app/test/kit.js'

/** The seed customers' passwords follow a pattern; see the example app's README. */
export const passwordOf = (name: string) => `${name}-opens-vault`

interface Message {
  readonly channel: string
  readonly to: string
  readonly text: string
  readonly at: string
}

/** Opens the development inbox of the example app, with the messages to one contact or all. */
export async function openInbox(page: Page, app: string, to?: string): Promise<void> {
  await page.goto(`${app}/inbox?${new URLSearchParams({ ...(to && { to }), key: INBOX_KEY })}`)
}

/** The messages to a contact in the development inbox, newest first. */
export async function messagesTo(app: string, to: string): Promise<Message[]> {
  const response = await fetch(`${app}/inbox?to=${encodeURIComponent(to)}`, {
    headers: { accept: 'application/json', 'mfa-inbox-key': INBOX_KEY },
  })
  const { messages } = (await response.json()) as { messages: Message[] }
  return messages
}

/** The code in a message, whether written or spoken. */
export function codeIn(text: string): string {
  return /\b\d{6}\b/.exec(text)?.[0] ?? (text.match(/\b\d\b/g) ?? []).slice(0, 6).join('')
}

/** The code in the newest message to a contact by a channel. */
export async function newestCode(app: string, to: string, channel: string): Promise<string> {
  const message = (await messagesTo(app, to)).find(
    (one) => one.channel === channel && codeIn(one.text).length === 6,
  )
  if (!message) throw new Error(`no message to ${to} by ${channel} has a code`)
  return codeIn(message.text)
}

/** Opens a page of the app without a sign-in, and signs in with the password. */
export async function passwordStep(page: Page, app: string, name: string, path = '/vault'): Promise<void> {
  await page.goto(app + path)
  await page.getByLabel('User name').fill(name)
  await page.getByLabel('Password').fill(passwordOf(name))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForLoadState()
}

/** Does what leads to another page, and waits until that page is loaded. */
async function toNextPage(page: Page, act: (loaded: Promise<unknown>) => Promise<unknown>): Promise<void> {
  // A page that a link has just opened may still be loading, and its event would be taken for that of the next page.
  await page.waitForLoadState()
  const loaded = page.waitForEvent('load')
  await act(loaded)
  await loaded
}

/** Presses a button, and waits for the page that follows. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await toNextPage(page, () => page.getByRole('button', { name }).click())
}

/** Enters a code and submits it; with scripts the page submits a complete code by itself. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await toNextPage(page, async (loaded) => {
    await page.getByRole('textbox').fill(code)
    const button = page.getByRole('button', { name: 'Continue', exact: true })
    await Promise.race([loaded, button.click().catch(() => loaded)])
  })
}
