import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a reader needs to know to judge a figure: the machine, the commit, the day. */
export function describeMachine() {
  const processors = cpus()
  return {
    processor: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    commit:
      git('rev-parse', '--short', 'HEAD') +
      (git('status', '--porcelain', '--', 'src', 'service') && ' with changes'),
    date: new Date().toISOString().slice(0, 10),
  }
}

/** Processes that wanted a processor in the last minute, on average. */
export function loadAverage() {
  return Number(loadavg()[0].toFixed(1))
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}
