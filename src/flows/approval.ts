import type { Binding, DetailLine, MfaApproval } from '../protocol/details.js'
import { isDelivered, isKeyMethod, type Method } from '../protocol/methods.js'
import { unfitLine } from '../protocol/named-lines.js'
import type { MfaService } from '../protocol/service.js'
import type { RequestedApproval } from '../session/record.js'

/** How a factor is bound to what is approved. An unknown service shows nothing and has nothing signed. */
export function findBinding(
  method: Method | 'backup',
  { approvals }: Pick<MfaService, 'approvals'>,
): Binding {
  if (!approvals) return 'entered'
  if (isKeyMethod(method)) return 'signed'
  // A business can send a template by WhatsApp, and no text of its own.
  return isDelivered(method) && method !== 'whatsapp' ? 'shown' : 'entered'
}

/** Whether the message of a method can name all that is approved. Only text messages are short (R146). */
export function canName(
  method: Method | 'backup',
  lines: readonly DetailLine[],
  { approvals }: Pick<MfaService, 'approvals'>,
): boolean {
  return !approvals || !(method === 'sms' || method === 'dual') || unfitLine(lines) === undefined
}

/** The receipt of an approval that was given. */
export function createReceipt(
  { id, at, digest, details }: RequestedApproval,
  { binding, method, amr }: NonNullable<RequestedApproval['granted']>,
): MfaApproval {
  return { id, authorization_details: details, digest, binding, method, amr, approvedAt: at }
}
