/** A host that the operator lists: http is allowed to it, as are private addresses, on its port. */
export interface ListedHost {
  readonly hostname: string
  /** `undefined` for the usual port of http or https. */
  readonly port: string | undefined
}

/** Reads `media.internal` or `10.0.0.7:8080`; `undefined` when it is neither. */
export function readHost(text: string): ListedHost | undefined {
  const parts = /^([^\s/?#@:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text)
  if (!parts || !URL.canParse(`http://${parts[1]}`) || Number(parts[2] ?? 80) > 65_535) return undefined
  return { hostname: new URL(`http://${parts[1]}`).hostname, port: parts[2] }
}

/** Whether the address leads to a host that is listed, on a port that is. */
export function isListed(hosts: readonly ListedHost[], url: URL): boolean {
  const usual = url.protocol === 'https:' ? '443' : '80'
  const port = url.port || usual
  return hosts.some((host) => host.hostname === url.hostname && port === (host.port ?? usual))
}
