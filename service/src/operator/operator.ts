import type { Mode } from '../application.js'
import type { ApplicationSettings } from '../applications/settings.js'
import type { Store } from '../store/store.js'
import {
  type ApplicationSummary,
  changeSettings,
  createApplication,
  listApplications,
  type Setting,
  showSettings,
} from './applications.js'
import { type AuditEntry, listAudit } from './audit-log.js'
import { type DeliverySummary, listDeliveries } from './deliveries.js'
import type { Desk } from './actor.js'
import { createKey, type KeySummary, listKeys, revokeKey } from './api-keys.js'
import {
  type DisabledFactor,
  disableFactor,
  showUser,
  type UserName,
  type UserState,
  unlockUser,
} from './users.js'

/**
 * What an operator can do, for a command line or for pages. Nothing here prints or asks. What cannot be done throws
 * an `OperatorError`; every change is in the audit log under the operator's name.
 */
export interface Operator {
  createApplication(application: string, settings?: ApplicationSettings): Promise<void>
  listApplications(): Promise<ApplicationSummary[]>
  showSettings(application: string): Promise<Setting[]>
  changeSettings(
    application: string,
    changes: { readonly set?: ApplicationSettings; readonly unset?: readonly string[] },
  ): Promise<void>
  createKey(
    application: string,
    about: { readonly mode: Mode; readonly label?: string | undefined },
  ): Promise<{ readonly id: string; readonly key: string }>
  listKeys(application: string): Promise<KeySummary[]>
  revokeKey(application: string, id: string): Promise<void>
  showUser(name: UserName): Promise<UserState>
  unlockUser(name: UserName): Promise<void>
  disableFactor(name: UserName, factor: string): Promise<DisabledFactor>
  listDeliveries(filter: Parameters<typeof listDeliveries>[1]): Promise<DeliverySummary[]>
  listAudit(filter: Parameters<typeof listAudit>[1]): Promise<AuditEntry[]>
}

/** The operator `as`, over a store. `changed` hears of every application that was changed. */
export function operator(
  store: Store,
  as: string,
  changed: (application: string) => void = () => {},
): Operator {
  const desk: Desk = { store, as, changed }
  return {
    createApplication: (application, settings = {}) => createApplication(desk, application, settings),
    listApplications: () => listApplications(desk),
    showSettings: (application) => showSettings(desk, application),
    changeSettings: (application, { set = {}, unset = [] }) =>
      changeSettings(desk, application, { set, unset }),
    createKey: (application, { mode, label = '' }) => createKey(desk, application, { mode, label }),
    listKeys: (application) => listKeys(desk, application),
    revokeKey: (application, id) => revokeKey(desk, application, id),
    showUser: (name) => showUser(desk, name),
    unlockUser: (name) => unlockUser(desk, name),
    disableFactor: (name, factor) => disableFactor(desk, name, factor),
    listDeliveries: (filter) => listDeliveries(desk, filter),
    listAudit: (filter) => listAudit(desk, filter),
  }
}
