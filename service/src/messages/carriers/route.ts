import type { Channel } from '../message.js'
import type { Route } from './carriers.js'

/** The routes of each channel that is served, in the order in which they are tried. */
export type Routes = Readonly<Partial<Record<Channel, readonly Route[]>>>

/** Whether any channel is delivered to the development inbox. */
export function usesInbox(routes: Routes): boolean {
  return Object.values(routes).some((list) => list.some(({ by }) => by === 'inbox'))
}

/** The kinds of carriers of each channel, such as `email=smtp, sms=twilio|webhook`. */
export function describeRoutes(routes: Routes): string {
  return Object.entries(routes)
    .map(([channel, list]) => `${channel}=${list.map(({ by }) => by).join('|')}`)
    .join(', ')
}
