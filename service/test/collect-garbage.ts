import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Runs the garbage collector several times in the next moments, as may happen during any wait. */
export function collectGarbageSoon(): void {
  for (const ms of [10, 30, 60]) setTimeout(collect, ms)
}
