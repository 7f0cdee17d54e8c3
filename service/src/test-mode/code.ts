import type { Application } from '../application.js'

/** The code that is right for every living challenge and every app of a test key. */
const RIGHT_CODE = '424242'

/** Whether a test key typed the code that is always right. */
export function isAlwaysRight(application: Application, code: string): boolean {
  return application.mode === 'test' && code === RIGHT_CODE
}
