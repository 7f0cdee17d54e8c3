/** Addresses of this machine, to which secrets may be sent unencrypted. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The fragment of the address names the carrier. */
export function nameOf(url: URL): string | undefined {
  return /^#([\w.-]{1,40})$/.exec(url.hash)?.[1]
}

/** A parameter of the address that is neither known nor matches `also`. */
export function unknownParameter(url: URL, known: readonly string[], also?: RegExp): string | undefined {
  return [...url.searchParams.keys()].find((name) => !known.includes(name) && !also?.test(name))
}

/** The user or password of an address, decoded. */
export function decode(text: string): string {
  // A percent sign that does not begin an encoded byte is part of the password.
  return text.replace(/(%[0-9a-f]{2})+/gi, (encoded) =>
    Buffer.from(encoded.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

/** The http address of a gateway's API: encrypted, unless it is this machine or its scheme ends in `+http`. */
export function gatewayUrl(url: URL): string {
  const isHttp = url.protocol.endsWith('+http:') || LOOPBACK.test(url.hostname)
  return `${isHttp ? 'http' : 'https'}://${url.host}${url.pathname.replace(/\/+$/, '')}`
}

/** The sender of text messages in an address: a number, a short code or a name. In a query a bare plus sign means a space. */
export function readSender(url: URL): string | undefined {
  return url.searchParams.get('from')?.replace(/^ (?=\d)/, '+')
}

/** Whether a text can be the sender of text messages. */
export function isSender(from: string): boolean {
  return /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/.test(from)
}

/** Whether a text can be the sender of emails, such as `Vault <no-reply@vault.example>`. */
export function isMailSender(from: string): boolean {
  return /^[^\p{Cc}]*[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+>?$/u.test(from)
}
