import type { MfaRecord } from '../session/record.js'

/** What a second factor is for: a session that is signed in steps up. */
export function purposeOf({ stage }: Pick<MfaRecord, 'stage'>): 'sign-in' | 'step-up' {
  return stage === 'verified' || stage === 'trusted' ? 'step-up' : 'sign-in'
}
