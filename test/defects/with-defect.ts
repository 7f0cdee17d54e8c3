import type { DEFECTS } from './defects.js'

export type DefectName = keyof typeof DEFECTS

/** Does `work` while one defect is switched on. */
export async function withDefect<Result>(name: DefectName, work: () => Promise<Result>): Promise<Result> {
  Reflect.set(globalThis, 'seededDefect', name)
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(globalThis, 'seededDefect')
  }
}
