import request from 'supertest'

type Agent = ReturnType<typeof request.agent>

/** A browser whose requests go to one process or to the other, with the same cookies. */
export interface Browser {
  readonly one: Agent
  readonly other: Agent
}

/** Opens a browser without cookies on two processes of one site. */
export function openBrowser(one: string, other: string, headers: Readonly<Record<string, string>>): Browser {
  const browser = { one: request.agent(one).set(headers), other: request.agent(other).set(headers) }
  // Cookies do not depend on the port.
  browser.other.jar = browser.one.jar
  return browser
}
