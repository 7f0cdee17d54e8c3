import type { Request } from 'express'
import type { Deps } from '../../flows/deps.js'
import { answerNo, answerNone, nothing } from '../../no-op.js'
import type { Settings } from '../../options/settings.js'
import type { MfaRecord } from '../../session/record.js'
import type { Account, TrustedDevices } from '../../session/state.js'
import { type Device, type DeviceOwner, type Devices, digestFactors } from '../../stores/trust/devices.js'
import { describeBrowser } from '../http/browser.js'
import { nameCookie } from '../http/cookies.js'
import { trustCookie } from '../http/trust-cookie.js'

/** The user of a browser, with the factors that the trust in it depends on. */
type TrustOwner = Pick<Account, 'user' | 'userId' | 'factors'>

/** Trusted devices for requests: with cookies and browser names. */
export interface DeviceTrust extends TrustedDevices {
  /** How long the device would be trusted, in milliseconds; `undefined` if this user may not trust it. */
  offer(req: Request, user: Express.User): number | undefined
  /** Trusts this device, if the user and the session may. Returns the device's id, if so. Never fails. */
  remember(req: Request, owner: TrustOwner, record: MfaRecord): Promise<string | undefined>
  /** The user's devices, the last used first; `current` marks the browser of this request. */
  list(req: Request, owner: TrustOwner): Promise<readonly (Device & { current: boolean })[]>
  /** Revokes one device, and returns whether it existed. */
  revoke(req: Request, userId: string, id: string): Promise<boolean>
  /** Revokes all devices of the user, and returns how many there were. */
  revokeAll(userId: string): Promise<number>
}

/** For an app without trusted devices: no device is trusted. */
export const NO_TRUSTED_DEVICES: DeviceTrust = {
  offer: () => undefined,
  recognize: nothing,
  holds: () => false,
  remember: nothing,
  list: answerNone,
  revoke: answerNo,
  revokeAll: async () => 0,
}

/** Creates the trusted devices for requests. */
export function createTrustedDevices(
  devices: Devices,
  options: NonNullable<Settings['trustedDevices']>,
  { settings, emit, sessionsValidAfter }: Pick<Deps, 'settings' | 'emit' | 'sessionsValidAfter'>,
): DeviceTrust {
  const cookie = trustCookie(nameCookie(settings.users, options.cookieName), options.maxAgeMs)
  const createOwner = (user: Express.User, userId: string, factors: string): DeviceOwner => ({
    userId,
    factors,
    fingerprint: options.fingerprint ? String(options.fingerprint(user)) : '',
  })
  const findOwner = ({ user, userId, factors }: TrustOwner) =>
    createOwner(user, userId, digestFactors(factors))
  const isAllowed = (req: Request, user: Express.User) => options.canTrust?.(user, req) !== false
  const listIds = (req: Request) => cookie.read(req).map(({ id }) => id)

  return {
    offer: (req, user) => (isAllowed(req, user) ? options.maxAgeMs : undefined),

    async recognize(req, account) {
      const { user, userId } = account
      const entries = cookie.read(req)
      if (entries.length === 0) return undefined
      try {
        if (!isAllowed(req, user)) return undefined
        const found = await devices.recognize(findOwner(account), entries)
        if (found.outcome === 'unknown') {
          if (found.copied) emit({ type: 'device_copied', userId })
          return undefined
        }
        if (found.entry) cookie.write(req, found.entry, [])
        emit({ type: 'device_recognized', userId, device: found.device })
        return { device: found.device, factors: digestFactors(account.factors) }
      } catch (error) {
        settings.logger.error(
          'countersign: trusted devices cannot be read, so the second factor is required',
          error,
        )
        return undefined
      }
    },

    holds: ({ userId, factors, device }, user, account) =>
      (!account || factors === digestFactors(account.factors)) &&
      devices.holds(createOwner(user, userId, factors), device),

    async remember(req, account, record) {
      try {
        if (!isAllowed(req, account.user)) return undefined
        const replaced = listIds(req)
        const owner = findOwner(account)
        const theirs = (await devices.list(owner)).map(({ id }) => id).filter((id) => replaced.includes(id))
        const entry = await devices.trust(owner, describeBrowser(req, settings), theirs)
        // Checked after the device was stored, so that a "this wasn't me" link that is used right now does not miss it.
        if (await sessionsValidAfter.isVoid(account.userId, record)) {
          await devices.revoke(account.userId, entry.id)
          return undefined
        }
        cookie.write(req, entry, theirs)
        emit({ type: 'device_trusted', userId: account.userId, device: entry.id })
        return entry.id
      } catch (error) {
        settings.logger.error('countersign: the browser was not trusted; the login continues', error)
        return undefined
      }
    },

    async list(req, account) {
      const here = new Set(listIds(req))
      return (await devices.list(findOwner(account))).map((device) => ({
        ...device,
        current: here.has(device.id),
      }))
    },

    async revoke(req, userId, id) {
      if (!(await devices.revoke(userId, id))) return false
      if (listIds(req).includes(id)) cookie.write(req, undefined, [id])
      emit({ type: 'devices_revoked', userId, count: 1, why: 'user' })
      return true
    },

    async revokeAll(userId) {
      const count = await devices.revokeAll(userId)
      if (count > 0) emit({ type: 'devices_revoked', userId, count, why: 'user' })
      return count
    },
  }
}
