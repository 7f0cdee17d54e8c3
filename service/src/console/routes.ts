import type { PageRoute, PublicRoute } from './page.js'
import { KEY_ROUTES } from './pages/api-keys.js'
import { APPLICATION_ROUTES } from './pages/applications.js'
import { APPROVAL_ROUTES } from './pages/approvals.js'
import { AUDIT_ROUTES } from './pages/audit.js'
import { DEVELOPER_ROUTES } from './pages/developer.js'
import { EVENT_ENDPOINT_ROUTES } from './pages/event-endpoint.js'
import { EVENT_ROUTES } from './pages/events.js'
import { HEALTH_ROUTES } from './pages/health.js'
import { INBOX_ROUTES } from './pages/inbox.js'
import { SINGLE_MESSAGE_ROUTES } from './pages/message.js'
import { MESSAGE_ROUTES } from './pages/messages.js'
import { NUMBER_ROUTES } from './pages/numbers.js'
import { OPERATOR_ROUTES } from './pages/operators.js'
import { OVERVIEW_ROUTES } from './pages/overview.js'
import { SETTINGS_ROUTES } from './pages/settings.js'
import { TEXT_ROUTES } from './pages/texts.js'
import { TRAFFIC_ROUTES } from './pages/traffic.js'
import { USER_ROUTES } from './pages/users.js'
import { WEBHOOK_ROUTES } from './pages/webhook.js'
import { INVITATION_ROUTES } from './sign-in/invitation-routes.js'
import { SIGN_IN_ROUTES } from './sign-in/sign-in-routes.js'

/** Every route for signed-in operators, each with the least role that may use it. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...OVERVIEW_ROUTES,
  ...APPLICATION_ROUTES,
  ...SETTINGS_ROUTES,
  ...KEY_ROUTES,
  ...USER_ROUTES,
  ...MESSAGE_ROUTES,
  ...SINGLE_MESSAGE_ROUTES,
  ...NUMBER_ROUTES,
  ...TRAFFIC_ROUTES,
  ...WEBHOOK_ROUTES,
  ...EVENT_ROUTES,
  ...EVENT_ENDPOINT_ROUTES,
  ...TEXT_ROUTES,
  ...DEVELOPER_ROUTES,
  ...INBOX_ROUTES,
  ...APPROVAL_ROUTES,
  ...AUDIT_ROUTES,
  ...HEALTH_ROUTES,
  ...OPERATOR_ROUTES,
]

/** The routes that need no sign-in. */
export const PUBLIC_ROUTES: readonly PublicRoute[] = [...SIGN_IN_ROUTES, ...INVITATION_ROUTES]
