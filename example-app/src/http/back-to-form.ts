import type { ErrorRequestHandler } from 'express'
import { wantsJson } from './negotiate.js'
import { Problem } from './problem.js'

/** Shows a browser what is wrong with its entries on the page of the form, after a redirect, so that a reload posts nothing. */
export function backToForm(path: string): ErrorRequestHandler {
  return function backToForm(error, req, res, next) {
    if (!(error instanceof Problem) || error.status !== 400 || wantsJson(req)) return next(error)
    const text = error.detail.charAt(0).toUpperCase() + error.detail.slice(1)
    req.session.pageMessage = { tone: 'error', text }
    res.redirect(303, path)
  }
}
