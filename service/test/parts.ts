/** What benchmarks, and tests that start processes, use of the build and the package does not export. */

export { activityCounter } from '../src/activity/count-activity.js'
export { smtpCarrier } from '../src/carriers/smtp.js'
export { storedOutbox } from '../src/delivery/outbox.js'
export { lineBuffer } from '../src/log/logger.js'
export { deleteExpired } from '../src/maintenance/retention.js'
export { codeMessage, mailHtml } from '../src/message-texts/compose.js'
export { diagnoseStore } from '../src/operator/diagnose-store.js'
export { operator } from '../src/operator/operator.js'
export { deliveredCodeMac } from '../src/secrets/codes.js'
export { keysFrom, withKeyId } from '../src/secrets/keys.js'
export { openStore } from '../src/store/open.js'
export { postgresStore } from '../src/store/postgres-store.js'
