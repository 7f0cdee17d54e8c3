import type { Test } from 'supertest'
import type { jsonAgent } from './host.js'

type Agent = ReturnType<typeof jsonAgent>

/** Shows one of the offered factors for an approval: what is posted to `/mfa/verify` besides the id of the approval. */
export type Approve = (factor: string, approval: string) => Promise<Record<string, unknown>>

/**
 * Sends a request that adds a factor or shows backup codes. If it has to be approved first, approves it by the first factor that is
 * offered, and sends it again. Returns the last response.
 */
export async function sendApproved(agent: Agent, send: () => Test, approve: Approve) {
  const asked = await send()
  const { approval, factors = [] } = asked.body
  if (approval === undefined) return asked
  const fields = await approve(factors[0].method, approval.id)
  const given = await agent.post('/mfa/verify').send({ ...fields, approval: approval.id })
  if (given.body.status !== 'approved') throw new Error(`not approved: ${JSON.stringify(given.body)}`)
  return send()
}
