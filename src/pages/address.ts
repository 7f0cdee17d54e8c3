/**
 * An address as a link may carry it: a path of this site or a web address. Anything else (`javascript:`, `data:`,
 * `//elsewhere`) becomes `/`.
 */
export function linkTo(address: string): string {
  // Browsers read a backslash as a slash and skip tabs and line breaks inside an address.
  return /^(?:\/(?![/\\])|https?:\/\/)[^\s\\]*$/i.test(address) ? address : '/'
}

/** A picture that came as a data URL, or nothing if it is something else. */
export function pictureFrom(url: string | undefined): string | undefined {
  return url !== undefined && /^data:image\/[a-z+.-]+[;,]/i.test(url) ? url : undefined
}

/** The address that opens an authenticator app on this device, or nothing if it is something else. */
export function otpauthLink(uri: string | undefined): string | undefined {
  return uri !== undefined && /^otpauth:\/\//i.test(uri) ? uri : undefined
}
