import { localProxy } from './local-proxy.mjs'

/**
 * Stands between an app and its database. `setDelay` holds each answer up for as many milliseconds, so that the round trips
 * which the app waits for one after the other can be told from the time that it takes.
 */
export async function delayingProxy(databasePort) {
  let delayMs = 0
  const proxy = await localProxy(databasePort, ({ toServer, toClient }) => ({
    fromClient: toServer,
    fromServer(chunk) {
      if (delayMs === 0) toClient(chunk)
      else setTimeout(() => toClient(chunk), delayMs)
    },
  }))
  return {
    ...proxy,
    setDelay(ms) {
      delayMs = ms
    },
  }
}
