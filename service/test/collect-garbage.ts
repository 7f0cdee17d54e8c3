import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects, some times in the next moments, what nobody holds any more: as it may happen whenever something waits. */
export function collectGarbageSoon(): void {
  for (const ms of [10, 30, 60]) setTimeout(collect, ms)
}
