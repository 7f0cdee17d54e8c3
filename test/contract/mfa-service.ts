import { afterAll, beforeAll, describe } from 'vitest'
import type { MfaService } from '../../src/protocol/index.js'
import { describeAccountFactors } from './account-factors.js'
import { describeAppFactor } from './app-factor.js'
import { describeBackupCodes } from './backup-codes.js'
import { describeDeliveredCodes } from './delivered-codes.js'
import { describeRefusals } from './refusals.js'
import { describeTranscription } from './transcription.js'

/** A service and what the contract needs to know beside it. */
export interface Opened {
  readonly service: MfaService
  /** Texts that reached a contact, newest first. */
  inbox(to: string): Promise<string[]>
  close(): Promise<void>
}

export interface Contract {
  /** The service that is open now. */
  readonly opened: () => Opened
  /** Whether it is told who asks and what a code is meant as (R91). The published API has no word for that. */
  readonly isTold: boolean
}

/**
 * What every `MfaService` must do, whoever speaks for it. The service must offer email and SMS, no WhatsApp and no transcription, and
 * read its clock from `Date`.
 */
export function describeMfaService(
  name: string,
  { isTold, open }: { readonly isTold: boolean; open(): Promise<Opened> },
): void {
  describe(name, () => {
    let now: Opened | undefined
    beforeAll(async () => {
      now = await open()
    })
    afterAll(() => now?.close())
    const opened = () => {
      if (!now) throw new Error('the service is not open')
      return now
    }
    const contract = { opened, isTold }
    describeDeliveredCodes(contract)
    describeAppFactor(contract)
    describeBackupCodes(contract)
    describeAccountFactors(contract)
    describeRefusals(contract)
    describeTranscription(contract)
  })
}
