import { readdirSync, readFileSync } from 'node:fs'

/**
 * Microseconds of processor time of a process and all its children so far, in steps of 10 ms. Children that ended are counted too:
 * a process keeps the sum of those that it waited for.
 */
export function processorTimeUs(pid) {
  const parents = new Map()
  const own = new Map()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
      parents.set(Number(name), Number(fields[1]))
      // utime, stime, and those of its children that ended, in ticks of 10 ms.
      const [ticks, ofEnded] = [fields.slice(11, 13), fields.slice(13, 15)].map(
        (two) => Number(two[0]) + Number(two[1]),
      )
      own.set(Number(name), (ticks + (Number(name) === pid ? ofEnded : 0)) * 10_000)
    } catch {
      // It has ended meanwhile.
    }
  }
  let sum = 0
  for (const [one, us] of own) if (one === pid || parents.get(one) === pid) sum += us
  return sum
}
