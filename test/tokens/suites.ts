import { fileURLToPath } from 'node:url'
import { withTokens } from '../kit/transports.js'

/** The suites that hold for every transport: by themselves they run with sessions, and from this list with references and tokens. */
const SUITES = {
  limits: [
    'flows/delivery-states',
    'flows/metrics',
    'guard/policy',
    'guard/step-up',
    'limits/factor-cap',
    'limits/guessing',
    'limits/malformed-codes',
    'limits/messages',
    'tokens/transports',
  ],
  assurance: [
    'approvals/approval',
    'approvals/bindings',
    'assurance/evidence',
    'assurance/strength',
    'trust/endings',
  ],
  account: [
    'keys/manage',
    'keys/reset',
    'keys/sign-in',
    'notices/notices',
    'recovery/recovery',
    'recovery/reset',
    'routers/existing-factors',
    'routers/factor-change',
    'routers/other-factors',
    'routers/remove-factor',
    'routers/second-press',
    'routers/unusable-contact',
  ],
  attacks: [
    'attacks/backup-code-from-mailbox',
    'attacks/backup-codes-by-mailbox',
    'attacks/bypass-code',
    'attacks/dual-code-from-mailbox',
    'attacks/enrollment-after-reset',
    'attacks/factor-loop',
    'attacks/key-names',
    'attacks/mailbox-to-authenticator',
    'attacks/recovery-by-mailbox',
    'attacks/recovery-loop',
    'attacks/recovery-race',
    'attacks/recovery-too-early',
    'attacks/recovery-unreached-contact',
    'attacks/script-adds-factor',
    'attacks/skipped-session-enrolls',
    'attacks/text-message-to-authenticator',
    'attacks/trusted-browser-by-mailbox',
  ],
} as const

/** Runs suites of the list with references and tokens. */
export function runWithTokens(suites: keyof typeof SUITES): Promise<void> {
  return withTokens(async () => {
    for (const suite of SUITES[suites]) {
      const path = fileURLToPath(new URL(`../${suite}.test.ts`, import.meta.url))
      // A module of its own, which registers the tests once more.
      await import(/* @vite-ignore */ `${path}?with=tokens`)
    }
  })
}
