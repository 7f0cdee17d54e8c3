/** The door `@countersign/service`: the MFA service, self-hosted. */

export type { InboxMessage } from './delivery/inbox.js'
export type { Channel } from './delivery/message.js'
export type { Delivery } from './delivery/routes.js'
export { readEnvironment, type ServiceEnvironment } from './environment.js'
export { FaultsError } from './faults.js'
export { jsonLogger, type LogEvent, type Logger } from './log.js'
export type { Operator } from './operator/operator.js'
export { OperatorError } from './operator/operator-error.js'
export type { ServiceOptions } from './options.js'
export { developmentSecret } from './secrets/development-secret.js'
export { type CountersignService, createService } from './service.js'
export type { ImportAppRequest } from './verbs/in-process.js'
