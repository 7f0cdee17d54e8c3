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
  const manager: object = Object(Reflect.get(passport, '_sm'))
  const ofAll: object = Object(Reflect.getPrototypeOf(manager))
  const logIn: unknown = Reflect.get(ofAll, 'logIn')
  if (areUngatedRefused || typeof logIn !== 'function') return
  areUngatedRefused = true
  Reflect.set(ofAll, 'logIn', function gatedOnly(this: object, req: Request, ...rest: unknown[]) {
    if (!isGated(req) && this === manager) {
      const done = rest.find((part) => typeof part === 'function')
      return Reflect.apply(done ?? (() => {}), undefined, [refusal()])
    }
    if (!isGated(req)) req.res?.once('finish', () => isGated(req) || refusal())
    return Reflect.apply(logIn, this, [req, ...rest])
  })
}
