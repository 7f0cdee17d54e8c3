import { isAtLeast } from '../../operator/rights.js'
import { html } from '../../telemetry/html.js'
import type { Page, PageRequest, PageRoute } from '../page.js'
import { table } from '../parts.js'
import { APPLICATIONS_PATH, applicationNav, applicationOf, applicationPath } from './applications.js'

/** What a developer needs to use an application. */
export const DEVELOPER_ROUTES: readonly PageRoute[] = [
  {
    method: 'get',
    path: `${APPLICATIONS_PATH}/:application/developer`,
    least: 'viewer',
    handle: developerPage,
  },
]

async function developerPage(request: PageRequest): Promise<Page> {
  const application = await applicationOf(request)
  const { publicUrl } = request.parts
  const base = publicUrl ?? 'http://localhost:4000'
  const settings = await request.operator.showSettings(application)
  const name = settings.find((setting) => setting.name === 'name')?.value ?? application
  return {
    title: application,
    section: 'applications',
    main: html`${applicationNav(application, '/developer')}
<dl class="facts">
<dt>Base URL</dt><dd><code>${base}</code>${publicUrl === undefined && ASSUMED}</dd>
<dt>API key</dt><dd>create one under <a href="${applicationPath(application, '/keys')}">API keys</a>; a test key delivers nothing</dd>
<dt>OpenAPI</dt><dd><a href="${base}/openapi.json">openapi.json</a>, <a href="${base}/docs">documentation</a></dd>
</dl>
<h2>Send and check a code</h2>
<pre class="once">export KEY=mfa_test_…
curl ${base}/v1/mfa -H "Authorization: Bearer $KEY" -d User=ann@example.com -d Type=EMAIL
curl "${base}/v1/test/inbox?to=ann@example.com" -H "Authorization: Bearer $KEY"
curl ${base}/v1/mfa/verify -H "Authorization: Bearer $KEY" -d User=ann@example.com -d Type=EMAIL -d Code=424242</pre>
<p class="note">With a test key, no message is sent: ${
      isAtLeast(request.account.role, 'support')
        ? html`they are in <a href="${applicationPath(application, '/inbox')}">the inbox</a>`
        : 'they are in the inbox'
    }. The code 424242 is valid for every challenge.</p>
<h2>The plugin for Express</h2>
<pre class="once">${pluginLines(base, name)}</pre>
<h2>Contacts for tests</h2>
<p class="note">With a test key, these have the same result each time.</p>
${table('Contacts for tests', ['Mailbox', 'Phone', 'Result'], TEST_CONTACTS, '')}`,
  }
}

// The address of the request could be anyone's, and the lines are copied (R140).
const ASSUMED = html` <span class="mfa-hint">assumed: set <code>SERVICE_PUBLIC_URL</code> (<code>publicUrl</code>) to the address of this service</span>`

function pluginLines(base: string, name: string): string {
  return `import { createMfa } from 'countersign'

const mfa = createMfa({
  service: { baseUrl: '${base}', apiKey: process.env.MFA_API_KEY },
  appName: ${JSON.stringify(name)},
  factors: (user) => [{ method: 'sms', phone: user.phone }, { method: 'email', email: user.email }],
})

app.use(mfa.session) // after passport.session()
app.use('/mfa', mfa.router)
app.post('/transfer', mfa.requireMfa({ maxAge: '5m' }), transfer)`
}

const TEST_CONTACTS = [
  ['refused@test.invalid', '+15005550001', '422 contact_refused'],
  ['fail@test.invalid', '+15005550002', '502 delivery_failed'],
  ['limit@test.invalid', '+15005550003', '429 limited'],
  ['locked@test.invalid', '+15005550004', '429 locked'],
  ['disabled@test.invalid', '+15005550005', '403 factor_disabled'],
  ['queued@test.invalid', '+15005550007', 'status queued; the message never arrives'],
  ['expired@test.invalid', '+15005550008', 'the message arrives, but every code is rejected'],
] as const
