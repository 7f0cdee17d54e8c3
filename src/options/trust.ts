import type { Request } from 'express'
import * as z from 'zod'
import './host.js'
import { createOptionsSchema, duration, type Given, wholeNumber } from '../option-rules.js'
import { itemStoreConfig } from '../stores/config.js'
import { callback, isText } from './callback.js'

/** The rules of the option `trustedDevices`. */
export class TrustedDeviceRules<User = Express.User> {
  /** Where trusted devices are kept. Required, without a default. See docs/trusted-devices.md#stores. */
  readonly store = itemStoreConfig
  /** How long a browser is trusted, counted from the moment the user trusted it, `1h` to `30d`. Defaults to `30d`. */
  readonly maxAge = duration('1h', '30d', '30d').prefault('30d')
  /** How many browsers a user may trust, 1 to 10; a new one replaces the one unused for longest. Defaults to 10. */
  readonly maxDevices = wholeNumber(1, 10, 'devices').default(10)
  /**
   * How long a process relies on what it read about a trusted device, `1s` to `60s`. By default, every request asks;
   * a store in memory is asked once. See
   * docs/trusted-devices.md#what-a-trusted-sign-in-proves.
   */
  readonly recheck = duration('1s', '60s', '30s').optional()
  /** Name of the cookie. If the whole site uses https, `__Host-mfa-devices` is stricter. Defaults to `mfa-devices`. */
  readonly cookieName = z
    .string({ error: 'must be the name of a cookie, like mfa-devices' })
    .regex(/^[\w-]{1,64}$/, { error: 'must be letters, digits, - and _, like mfa-devices' })
    .default('mfa-devices')
  /**
   * Decides whether a user may trust a browser, when trust is offered and at each sign-in. By default, every user may
   * trust every browser.
   */
  readonly canTrust = callback<(user: User, req: Request) => boolean>({
    name: 'trustedDevices.canTrust',
    must: 'must be a function from a user and a request to true or false',
    returns: ['true or false', (answer) => typeof answer === 'boolean'],
  }).optional()
  /**
   * Returns text that changes with the user's password, such as a version number: a new password then ends trust in all
   * browsers. By default, trust outlives a new password.
   */
  readonly fingerprint = callback<(user: User) => string | number>({
    name: 'trustedDevices.fingerprint',
    must: 'must be a function from a user to text that changes with the password',
    returns: ['text or a number', (answer) => isText(answer) || typeof answer === 'number'],
  }).optional()
}

/** Browsers in which sign-in skips the second factor. See docs/trusted-devices.md. */
export interface TrustedDeviceOptions<User = Express.User> extends Given<TrustedDeviceRules<User>> {}

/** The option `trustedDevices`. */
export const trustedDevices = createOptionsSchema(
  new TrustedDeviceRules(),
  'must be an object like { store: "memory" }',
)
