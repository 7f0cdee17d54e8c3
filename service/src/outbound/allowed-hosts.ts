/** A host that the operator allows: recordings may be fetched from its port by http and at private addresses. */
export interface AllowedHost {
  readonly hostname: string
  /** `undefined` stands for the default port of http or https. */
  readonly port: string | undefined
}

/** Parses `media.internal` or `10.0.0.7:8080`; `undefined` when it is neither. */
export function parseHost(text: string): AllowedHost | undefined {
  const parts = /^([^\s/?#@:[\]]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(text)
  if (!parts || !URL.canParse(`http://${parts[1]}`) || Number(parts[2] ?? 80) > 65_535) return undefined
  return { hostname: new URL(`http://${parts[1]}`).hostname, port: parts[2] }
}

/** Whether the host and port of an address are allowed. */
export function isAllowedHost(hosts: readonly AllowedHost[], url: URL): boolean {
  const defaultPort = url.protocol === 'https:' ? '443' : '80'
  const port = url.port || defaultPort
  return hosts.some((host) => host.hostname === url.hostname && port === (host.port ?? defaultPort))
}
