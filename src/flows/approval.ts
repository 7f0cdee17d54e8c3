import type { Binding, MfaApproval } from '../protocol/details.js'
import { isDelivered, isKeyMethod, type Method } from '../protocol/methods.js'
import type { MfaService } from '../protocol/service.js'
import type { RequestedApproval } from '../session/record.js'

/** How a factor is bound to what is approved. An unknown service shows nothing and has nothing signed. */
export function bindingOf(method: Method | 'backup', { approvals }: Pick<MfaService, 'approvals'>): Binding {
  if (!approvals) return 'entered'
  if (isKeyMethod(method)) return 'signed'
  // A business can send a template by WhatsApp, and no text of its own.
  return isDelivered(method) && method !== 'whatsapp' ? 'shown' : 'entered'
}

/** The receipt of an approval that was given. */
export function receiptOf(
  { id, at, digest, details }: RequestedApproval,
  { binding, method, amr }: NonNullable<RequestedApproval['granted']>,
): MfaApproval {
  return { id, authorization_details: details, digest, binding, method, amr, approvedAt: at }
}
