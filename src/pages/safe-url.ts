/**
 * A URL that is safe in a link: a path of this site, or an http or https URL. Anything else (`javascript:`, `data:`,
 * `//elsewhere`) becomes `/`.
 */
export function safeLink(url: string): string {
  // Browsers treat a backslash as a slash and ignore tabs and line breaks in a URL.
  return /^(?:\/(?![/\\])|https?:\/\/)[^\s\\]*$/i.test(url) ? url : '/'
}

/** The URL if it is a data URL of an image, otherwise `undefined`. */
export function imageDataUrl(url: string | undefined): string | undefined {
  return url !== undefined && /^data:image\/[a-z+.-]+[;,]/i.test(url) ? url : undefined
}

/** The URI if it opens an authenticator app (`otpauth://`), otherwise `undefined`. */
export function otpauthLink(uri: string | undefined): string | undefined {
  return uri !== undefined && /^otpauth:\/\//i.test(uri) ? uri : undefined
}
