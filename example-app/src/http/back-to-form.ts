import type { ErrorRequestHandler } from 'express'
import { asProblem } from './errors.js'
import { wantsJson } from './negotiate.js'

/**
 * Shows a browser on the page of the form, after a redirect, so that a reload posts nothing: what is wrong with its entries, or that the
 * service does not respond.
 */
export function backToForm(path: string): ErrorRequestHandler {
  return function backToForm(error, req, res, next) {
    if (wantsJson(req)) return next(error)
    const problem = asProblem(error, req.body)
    const { status, code, title, detail } = problem
    if (status !== 400 && code !== 'service_unavailable') return next(problem)
    const text = status === 400 ? detail.charAt(0).toUpperCase() + detail.slice(1) : `${title}. ${detail}`
    req.session.pageMessage = { tone: 'error', text }
    res.redirect(303, path)
  }
}
