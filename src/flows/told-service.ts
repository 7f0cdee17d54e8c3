import { ServiceError } from '../errors.js'
import type { Caller, MfaService } from '../protocol/service.js'
import type { Deps } from './deps.js'

/** The service, with each of its failures told as an event (R89). */
export function toldService(service: MfaService, tell: Deps['tell']): MfaService {
  const told = async <Answer>({ account = '' }: Caller, answer: Promise<Answer>) => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof ServiceError) {
        tell({ type: 'service_failed', userId: account, errorCode: error.code })
      }
      throw error
    }
  }
  return {
    send: (request) => told(request, service.send(request)),
    verify: (request) => told(request, service.verify(request)),
    enrollApp: (request) => told(request, service.enrollApp(request)),
    sendBackupCodes: (request) => told(request, service.sendBackupCodes(request)),
  }
}
