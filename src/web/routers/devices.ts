import { type Refused, refuse } from '../../flows/deps.js'
import { revokeBody } from '../../routes/bodies.js'
import { iso } from '../../time.js'
import type { RouteDeps } from '../actions/context.js'
import type { RouteContext } from './context.js'
import { answerOutcome, refuseUnlessGone } from './outcome.js'
import type { RouteHandlers } from './route.js'

/** Lists and revokes trusted devices. No routes without `trustedDevices`. */
export function devicesRoutes({ settings }: RouteDeps): RouteHandlers<'devicesRouter'> | undefined {
  if (!settings.trustedDevices) return undefined
  return {
    devices: answerOutcome('devices', {
      run: list,
      json: (_context, devices) => ({
        devices: devices.map(({ id, browser, system, createdAt, lastUsedAt, expiresAt, ...device }) => ({
          id,
          name: [browser, system].filter(Boolean).join(' on ') || 'Unknown browser',
          ...device,
          createdAt: iso(createdAt),
          lastUsedAt: iso(lastUsedAt),
          expiresAt: iso(expiresAt),
        })),
      }),
      page(context, devices) {
        const { revoked } = context.req.query
        const code = revoked === 'all' ? 'devices_revoked' : 'device_revoked'
        const message = revoked ? ({ tone: 'success', code } as const) : undefined
        return { view: { page: 'devices', devices }, message }
      },
    }),
    revokeDevices: answerOutcome('revokeDevices', {
      run: revokeAll,
      json: describeRevocation,
      page: listAfter('all'),
    }),
    revokePosted: answerOutcome('revokePosted', {
      run: (context, { device }) => revoke(context, device),
      ...ONE_REVOKED,
    }),
    revokeAllPosted: answerOutcome('revokeAllPosted', {
      run: revokeAll,
      json: describeRevocation,
      page: listAfter('all'),
    }),
    revokeDevice: answerOutcome('revokeDevice', {
      run(context) {
        const named = revokeBody.shape.device.safeParse(context.req.params.device)
        return revoke(context, named.data ?? '')
      },
      ...ONE_REVOKED,
    }),
  }
}

function list(context: RouteContext) {
  const { req, deps, state, user } = context
  return deps.trustedDevices.list(req, { user: state.user, userId: state.userId, factors: user.factors })
}

async function revoke({ req, deps, state }: RouteContext, device: string): Promise<number | Refused> {
  const wasThere = await deps.trustedDevices.revoke(req, state.userId, device)
  return wasThere ? 1 : refuse({ code: 'unknown_device' })
}

function revokeAll({ deps, state }: RouteContext): Promise<number> {
  return deps.trustedDevices.revokeAll(state.userId)
}

function describeRevocation(_context: RouteContext, count: number) {
  return { status: 'revoked', count } as const
}

function listAfter(revoked: 'one' | 'all') {
  return ({ deps }: RouteContext) => `${deps.settings.urls.path}/devices?revoked=${revoked}`
}

const ONE_REVOKED = {
  json: describeRevocation,
  page: listAfter('one'),
  refuse: refuseUnlessGone('unknown_device', listAfter('one')),
}
