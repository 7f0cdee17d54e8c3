import { KEY_METHODS, type KeyMethod, type Method, type Refused, type VerifyType } from 'countersign/protocol'
import type { Queries } from '../../store/store.js'
import type { Application, RelyingPartySettings } from '../application.js'
import { DEFAULT_APPLICATION } from './directory.js'
import { parseStoredSettings } from './settings.js'

const METHODS_OF: Readonly<Record<VerifyType, readonly Method[]>> = {
  EMAIL: ['email'],
  PHONE: ['sms', 'whatsapp', 'call'],
  DUAL: ['dual'],
  APP: ['app'],
}

/** The refusal of a method that the application does not offer; `undefined` when it does. */
export function refuseMethod(application: Application, method: Method): Refused | undefined {
  if (method === 'dual' && application.tier !== 'enterprise') {
    return refuse('DUAL requires the enterprise tier; this application has the standard tier.')
  }
  if (application.methods.includes(method)) return undefined
  return refuse(`${method.toUpperCase().replace('-', '_')} is switched off for this application.`)
}

/** The refusal of codes of a `Type` when the application offers none of their methods. */
export function refuseType(application: Application, type: VerifyType): Refused | undefined {
  const refusals = METHODS_OF[type].map((method) => refuseMethod(application, method))
  return refusals.every((refusal) => refusal !== undefined) ? refusals[0] : undefined
}

/** The relying party of an application that offers this kind of key, or the refusal. */
export function requireRelyingParty(
  application: Application,
  method: KeyMethod,
): RelyingPartySettings | Refused {
  return refuseMethod(application, method) ?? relyingPartyOrRefusal(application)
}

/** The refusal of passkeys created without a prompt: they can be synced and have no attestation, and the policy would refuse them later. */
export function refuseConditional({ keyPolicy }: Application): Refused | undefined {
  return keyPolicy.deviceBoundOnly || keyPolicy.attestation !== 'none'
    ? refuse('The key policy of this application does not accept passkeys that are created without a prompt.')
    : undefined
}

/** The relying party of an application, or the refusal. */
export function relyingPartyOrRefusal({ relyingParty }: Application): RelyingPartySettings | Refused {
  return (
    relyingParty ??
    refuse('This application has no relying party, so it offers no security keys and passkeys.')
  )
}

/** A method whose factors the service keeps. */
export type KeptMethod = 'app' | KeyMethod

/** The methods whose factors the service keeps. */
export const KEPT_METHODS: readonly KeptMethod[] = ['app', ...KEY_METHODS]

/** Those whose factors can be used, of an application with these methods: keys need a relying party. */
export function usableMethods(methods: readonly Method[], hasRelyingParty: boolean): readonly KeptMethod[] {
  return KEPT_METHODS.filter((method) => methods.includes(method) && (method === 'app' || hasRelyingParty))
}

function refuse(detail: string): Refused {
  return { outcome: 'refused', refusal: { reason: 'method_off', detail } }
}

/** The applications that serve the phone numbers of every country because neither `countries` nor `homeCountry` says otherwise (R103). */
export async function findUnrestrictedApplications(
  queries: Queries,
  homeCountry: string | undefined,
): Promise<string[]> {
  const rows = await queries.query<{ application: string; settings: string }>(
    `SELECT application, settings FROM application WHERE settings::jsonb -> 'countries' IS NULL ORDER BY application`,
  )
  return rows
    .filter(({ settings }) => parseStoredSettings(settings).countries === undefined)
    .map(({ application }) => application)
    .filter((name) => !(name === DEFAULT_APPLICATION && homeCountry !== undefined))
}

/** The advice for unrestricted applications. */
export function adviseUnrestricted(names: readonly string[]): string {
  const listed = names.map((name) => `"${name}"`).join(', ')
  return (
    `No countries are set for ${listed}: codes go to phone numbers of every country, which SMS pumping abuses. ` +
    `Name the countries of your users with app settings ${names[0]} countries=GB,DE${
      names.includes(DEFAULT_APPLICATION) ? ', for "default" also with SERVICE_HOME_COUNTRY' : ''
    }, or accept the risk with countries=all.`
  )
}
