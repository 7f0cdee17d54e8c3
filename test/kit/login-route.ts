import express from 'express'
import type passport from 'passport'
import { type HostSetup, host, type jsonAgent } from './host.js'

/** The options of `passport.authenticate`; its types lack `keepSessionInfo`. */
export type AuthenticateOptions = passport.AuthenticateOptions & { keepSessionInfo?: boolean }

/** A login route with both factors: the options of the second one, and of the first. */
export interface LoginRoute {
  readonly mfa?: AuthenticateOptions
  readonly name?: AuthenticateOptions
}

/**
 * A host whose route `/login/both` takes both factors: `passport.authenticate('name')`, `passport.authenticate('mfa')`, and a handler that
 * says who is signed in.
 */
export function bothFactors({ mfa = {}, name = {} }: LoginRoute = {}, setup: HostSetup = {}) {
  return host({
    ...setup,
    options: { login: { pendingPaths: ['/failed', '/session'], homePath: '/home' }, ...setup.options },
    routes: (app, options, auth) => {
      app.post(
        '/login/both',
        express.json(),
        express.urlencoded({ extended: false }),
        auth.authenticate('name', name),
        auth.authenticate('mfa', mfa),
        (req, res) => void res.json({ user: req.user ?? null, mfa: req.mfa, info: req.authInfo ?? null }),
      )
      app.get('/session', (req, res) => void res.json(req.session))
      setup.routes?.(app, options, auth)
    },
  })
}

/** Sends the name, which stands for the password, with other fields to that route. */
export const loginWith = (
  client: Pick<ReturnType<typeof jsonAgent>, 'post'>,
  name: string,
  fields: Record<string, unknown> = {},
) => client.post('/login/both').send({ name, ...fields })
