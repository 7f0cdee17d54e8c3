import { browsersAfter, requestFrom } from '../kit/browsers.mjs'
import { expectText } from '../kit/load.mjs'

/**
 * A side that measures one step of a sign-in, each time for another user in a session of their own that has gone through
 * the steps `before`.
 */
export function signInStep({ name, app, before, step, answer, requests = 120 }) {
  return {
    name,
    app,
    async requests() {
      const browsers = await browsersAfter(app, requests, before)
      return browsers.map((browser) => requestFrom(browser, step(browser)))
    },
    check: expectText(answer),
  }
}
