import type { LookupFunction } from 'node:net'
import { ownWebhookAgent } from '../carriers/own-webhook-address.js'
import type { ConnectionAgent } from '../outbound/public-agent.js'

const MAX_AGENTS = 200

/** The agents of endpoints, which keep their connections. */
export interface EventAgents {
  /** The agent for an address; `undefined` when it is not allowed (R87). */
  agentFor(url: string): ConnectionAgent | undefined
  /** Closes all connections. */
  close(): void
}

/** The agents of the latest addresses. `lookup` resolves names, and defaults to the system's resolver. */
export function eventAgents(lookup?: LookupFunction): EventAgents {
  const agents = new Map<string, ConnectionAgent>()
  return {
    agentFor(url) {
      const agent = agents.get(url) ?? ownWebhookAgent(url, lookup)
      if (!agent) return undefined
      agents.delete(url)
      agents.set(url, agent)
      const [oldest] = agents.keys()
      // Not destroyed: a request may be in progress.
      if (agents.size > MAX_AGENTS && oldest !== undefined) agents.delete(oldest)
      return agent
    },
    close() {
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}
