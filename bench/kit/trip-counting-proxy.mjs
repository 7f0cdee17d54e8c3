import { localProxy } from './local-proxy.mjs'

/**
 * Stands between an app and its database, and counts round trips in a row: all that the app sends before the next answer to it
 * is one of them.
 */
export async function tripCountingProxy(databasePort) {
  let trips = 0
  const proxy = await localProxy(databasePort, ({ toServer, toClient }) => {
    let isSending = false
    return {
      fromClient(chunk) {
        if (!isSending) trips++
        isSending = true
        toServer(chunk)
      },
      fromServer(chunk) {
        isSending = false
        toClient(chunk)
      },
    }
  })
  return {
    ...proxy,
    /** The round trips since the last call. */
    take() {
      const counted = trips
      trips = 0
      return counted
    },
  }
}
