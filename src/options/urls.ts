import * as z from 'zod'
import { createOptionsSchema, type Given, setType, sitePath } from '../option-rules.js'

const publicUrlText =
  'must be the https address of the app without a path, like https://app.example (http on this machine only)'

const hostText = "must be a list of host names without a port, like ['shop.example']"

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, pathname, search, hash, username } = new URL(url)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const isBare = pathname === '/' && search === '' && hash === '' && username === ''
  return isBare && (protocol === 'https:' || (protocol === 'http:' && isHere))
}

/** The rules of the option `urls`. */
export class UrlRules {
  /** Where the MFA pages and JSON routes are. Defaults to `/mfa`. A router at another path fails with `ERR_MFA_MOUNT_PATH`. */
  readonly path = sitePath('/mfa')
    .regex(/[^/]$/, { error: 'must not end with a slash, and must not be the root of the site' })
    .default('/mfa')
  /**
   * The part of the path that a proxy in front of the app removes, like `/bank`. All paths in the options include it.
   * Defaults to none. See docs/options.md#below-a-path.
   */
  readonly pathPrefix = sitePath('/bank').regex(/[^/]$/, { error: 'must not end with a slash' }).default('')
  /**
   * The https address of your app without a path, like `https://app.example`. It adds a "this wasn't me" link to notices,
   * which needs `notices.store` or `trustedDevices`. By default, notices have no link.
   */
  readonly publicUrl = z
    .string({ error: publicUrlText })
    .refine(isOrigin, { error: publicUrlText })
    .transform((url) => new URL(url).origin)
    .optional()
  /**
   * The host names of your app, if it has several, such as `['shop.example', 'shop.test']`. An approval then counts for the host name
   * that it was asked for at. Defaults to `[]`: an approval counts for every host name.
   */
  readonly hosts = z
    .array(z.string().regex(/^[a-z\d.-]+$/i, { error: hostText }), { error: hostText })
    .readonly()
    .default([])
}

/** Where the routers and documents are, as a browser sees it. */
export interface UrlOptions extends Given<UrlRules> {}

/** The option `urls`. */
export const urls = setType<UrlOptions>()(
  createOptionsSchema(new UrlRules(), 'must be an object like { path: "/mfa" }'),
)
