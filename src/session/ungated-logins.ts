import type { Request } from 'express'
import passport from 'passport'

/** Marks our replacement of `req.logIn`, for other copies of the package in this process. */
export const GATED = Symbol.for('countersign.gated')

/** Whether `req.logIn` is our replacement, so that the request passed a gate, of this copy of the package or of another one. */
export function isGated(req: Request): boolean {
  return GATED in Object(Reflect.get(req, 'logIn'))
}

let areUngatedRefused = false

/**
 * From now on, a sign-in by Passport's default instance fails if the request passed no gate (R01). One by another instance, which may
 * belong to an app of its own, is reported (by making the error) unless the gate follows in the same request.
 */
export function refuseUngatedLogins(refusal: () => Error): void {
  const manager: unknown = Reflect.get(passport, '_sm')
  const logIn: unknown = Reflect.get(Object(manager), 'logIn')
  if (areUngatedRefused || typeof logIn !== 'function') return
  areUngatedRefused = true
  const ofInstances: object = Object(Reflect.getPrototypeOf(Object(manager)))
  const ownLogIn: unknown = Reflect.get(ofInstances, 'logIn')
  if (typeof ownLogIn !== 'function') return
  Reflect.set(ofInstances, 'logIn', function watched(this: object, req: Request, ...rest: unknown[]) {
    if (!isGated(req)) req.res?.once('finish', () => isGated(req) || refusal())
    Reflect.apply(ownLogIn, this, [req, ...rest])
  })
  Reflect.set(Object(manager), 'logIn', function gatedOnly(this: object, req: Request, ...rest: unknown[]) {
    if (isGated(req)) return Reflect.apply(logIn, this, [req, ...rest])
    const done = rest.find((part) => typeof part === 'function')
    Reflect.apply(done ?? (() => {}), undefined, [refusal()])
  })
}
