import { html } from '../../http/html-page.js'
import { diagnoseStore } from '../../operator/diagnose-store.js'
import { isProduction } from '../../production.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { table } from '../table.js'

/** What the doctor finds in the store. It changes nothing. */
export const HEALTH_ROUTES: readonly PageRoute[] = [
  { method: 'get', path: '/console/health', least: 'viewer', handle: healthPage },
]

const BADGES = { ok: ' badge-good', warning: '', error: ' badge-bad' } as const

async function healthPage({ parts }: PageRequest): Promise<Page> {
  const { store, keys, doctor } = parts
  const found = await diagnoseStore(store, keys, { production: isProduction(), ...doctor })
  return {
    title: 'Health',
    section: 'health',
    main: html`<p>What <code>countersign-service doctor</code> finds in database, secrets, deliveries, keys and traffic. The command checks
the environment variables and asks the carriers, too. Numbers over time are in the <a href="https://prometheus.io/">Prometheus</a>
metrics at <code>/metrics</code>.</p>
${table(
  'Findings',
  ['Result', 'Subject', 'Finding'],
  found.map(({ severity, subject, message }) => [
    html`<span class="badge${BADGES[severity]}">${severity}</span>`,
    ...[subject, message],
  ]),
  'Nothing was checked.',
)}`,
  }
}
