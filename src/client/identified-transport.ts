import { askIdentity } from './identity.js'
import { type Transport, wrapTransport } from './transport.js'

/**
 * Sends nothing before the service has identified itself as the Countersign service. Another answer, as of a captive portal, decides
 * nothing (R131): the next call asks again. `onUnrecognized` is called for it, unless the service failed.
 */
export function identifiedTransport(
  transport: Transport,
  timeoutMs: number,
  {
    onUnrecognized = () => {},
    onIdentified = () => {},
  }: { onUnrecognized?: (() => void) | undefined; onIdentified?(): void } = {},
): Transport {
  let isIdentified = false
  let asking: Promise<void> | undefined

  const ask = async () => {
    await askIdentity(transport, timeoutMs, onUnrecognized)
    isIdentified = true
    onIdentified()
  }
  const identify = async () => {
    if (isIdentified) return
    // Concurrent first calls ask once.
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
  }
  const identified = wrapTransport(transport, async (call) => {
    await identify()
    return call()
  })
  return { ...identified, identify }
}
