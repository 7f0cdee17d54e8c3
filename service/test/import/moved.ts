import type { CompleteMfaService } from 'countersign/protocol'
import type { FactorImport } from '../../src/operator/import-factors.js'
import { operator } from '../../src/operator/operator.js'
import { type Bench, freshTenant } from '../kit.js'

/** The report of an import that did nothing. */
export const EMPTY = {
  ...{ imported: 0, unchanged: 0, absent: 0, furtherApps: 0, backupCodes: 0 },
  ...{ refused: [], remarks: [], weak: [] },
}
export const valid = { outcome: 'valid' }
export const invalid = { outcome: 'invalid' }

/** How a file is imported. */
export type Given = Omit<FactorImport, 'application' | 'text'>

/** Rows as lines of JSON. */
export const lines = (...rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n')

/** An application of its own, its imports and its users. */
export async function moved(bench: Bench) {
  const { application, mfa } = freshTenant(bench)
  const ann = operator(bench.store, 'ann', { keys: () => bench.context.keys })
  await ann.createApplication(application.id)
  return {
    mfa,
    ann,
    id: application.id,
    load: (text: FactorImport['text'], given: Given) =>
      ann.importFactors({ application: application.id, text, ...given }),
    /** Whether the code of an account's app is valid. */
    enter: (account: string, code: string) => enter(mfa, account, code, 'code'),
    redeem: (account: string, code: string) => enter(mfa, account, code, 'backup'),
  }
}

async function enter(mfa: CompleteMfaService, account: string, code: string, kind: 'code' | 'backup') {
  const contact = { kind: 'email', email: 'user@account.invalid' } as const
  const { outcome } = await mfa.verify({ method: 'app', contact, account, code, kind })
  return { outcome }
}
