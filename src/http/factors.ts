import type { Request, Response } from 'express'
import type { FactorView } from '../pages/view.js'
import { maskForOwner } from '../protocol/destination.js'
import type { Factor } from '../protocol/factor.js'
import { type Strength, strengthOf } from '../protocol/strength.js'
import { cookieReader } from './request.js'

type MaskedFactor = Pick<FactorView, 'id' | 'method' | 'to' | 'label'>

/** A factor as pages and responses show it, with its contact masked (R46). */
export function factorView({ id, method, contact, label }: Factor): MaskedFactor {
  return { id, method, to: maskForOwner(contact), ...(label && { label }) }
}

/** A factor as JSON responses list it, with its strength; pages describe the strength in words (R48). */
export interface ListedFactor extends MaskedFactor {
  readonly strength: Strength
}

/** Factors as JSON responses list them. */
export function listFactors(factors: readonly Factor[]): ListedFactor[] {
  return factors.map((factor) => ({ ...factorView(factor), strength: strengthOf(factor.method) }))
}

const COOKIE = 'mfa_last'
const YEAR_MS = 365 * 24 * 60 * 60_000

/**
 * The id of the factor that was last used in this browser, which is offered first the next time. It identifies no user and
 * proves nothing.
 */
export const lastUsedFactor = cookieReader(COOKIE, /[a-z0-9_-]{1,32}/)

/** Remembers the factor that was used, for this package's routes only (R11). */
export function rememberUsedFactor(req: Request, res: Response, factorId: string, path: string): void {
  res.cookie(COOKIE, factorId, { httpOnly: true, sameSite: 'lax', secure: req.secure, path, maxAge: YEAR_MS })
}
