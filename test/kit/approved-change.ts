import type { Response, Test } from 'supertest'
import type { Host, jsonAgent } from './host.js'

type Agent = ReturnType<typeof jsonAgent>

/** Shows one of the offered factors for an approval: what is posted to `/mfa/verify` besides the id of the approval. */
export type Approve = (factor: string, approval: string) => Promise<Record<string, unknown>>

const json = (agent: Agent, path: string) => agent.post(path).set('Accept', 'application/json')

/** Approves what a response asks for, by the first factor that is offered. False if it asks for nothing. */
async function approveAsked(agent: Agent, { body }: Response, approve: Approve): Promise<boolean> {
  const { approval, factors = [] } = body
  if (approval === undefined) return false
  const fields = await approve(factors[0].method, approval.id)
  const given = await json(agent, '/mfa/verify').send({ ...fields, approval: approval.id })
  if (given.body.status !== 'approved') throw new Error(`not approved: ${JSON.stringify(given.body)}`)
  return true
}

/**
 * Sends a request that adds a factor or shows backup codes. If it has to be approved first, approves it and sends it again.
 * Returns the last response.
 */
export async function sendApproved(agent: Agent, send: () => Test, approve: Approve) {
  const asked = await send()
  return (await approveAsked(agent, asked, approve)) ? send() : asked
}

/** Approves what a path requires an approval for, so that the next request to it is accepted. */
export async function approveChange(agent: Agent, path: string, approve: Approve, body = {}): Promise<void> {
  await approveAsked(agent, await json(agent, path).send(body).expect(401), approve)
}

/** Shows a code: that of an app, or of the message that is then sent. */
export const byCode =
  (agent: Agent, codeOf: (factor: string) => string | undefined | Promise<string | undefined>): Approve =>
  async (factor, approval) => {
    await json(agent, '/mfa/challenge').send({ factor, approval }).expect(200)
    return { code: await codeOf(factor), factor }
  }

/** Shows a code that the stand-in service has sent, or that of the app of a user who was signed in by `signInFully`. */
export const byStandIn = ({ standIn }: Pick<Host, 'standIn'>, agent: Agent): Approve =>
  byCode(agent, (factor) => (factor === 'app' ? '424242' : standIn.newestCode()))
