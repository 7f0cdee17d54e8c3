import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CompleteMfaService } from '../../src/protocol/index.js'
import { describeAccountFactors } from './account-factors.js'
import { describeAppFactor } from './app-factor.js'
import { describeBackupCodes } from './backup-codes.js'
import { describeDeliveredCodes } from './delivered-codes.js'
import { describeKeys } from './keys.js'
import { describeRefusals } from './refusals.js'

/** A service, and what else the contract needs of it. */
export interface Opened {
  readonly service: CompleteMfaService
  /** The texts of the messages to a contact, newest first. */
  inbox(to: string): Promise<string[]>
  close(): Promise<void>
}

export interface Contract {
  /** The open service. */
  readonly opened: () => Opened
  /** Whether requests name the account, the purpose and the kind of a code (R91), which the published API lacks. */
  readonly hasExtras: boolean
}

/** The abilities of a service, and the way to open it. */
interface Candidate {
  readonly hasExtras: boolean
  /** Whether it offers security keys and passkeys, for the relying party of `keys.ts`. */
  readonly hasKeys: boolean
  open(): Promise<Opened>
}

/**
 * Runs the tests that every `MfaService` must pass. The service must offer email and SMS, but not WhatsApp, and
 * read its clock from `Date`.
 */
export function describeMfaService(name: string, { hasExtras, hasKeys, open }: Candidate): void {
  describe(name, () => {
    let now: Opened | undefined
    beforeAll(async () => {
      now = await open()
    })
    afterAll(() => now?.close())
    const opened = () => {
      if (!now) throw new Error('The service is not open.')
      return now
    }
    const contract = { opened, hasExtras }
    describeDeliveredCodes(contract)
    describeAppFactor(contract)
    describeBackupCodes(contract)
    describeAccountFactors(contract)
    describeRefusals(contract)
    if (hasKeys) describeKeys(contract)
    else it('offers no keys', () => expect(opened().service.keys).toBeUndefined())
  })
}
