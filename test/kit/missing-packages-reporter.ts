import type { Reporter } from 'vitest/reporters'
import { missingReport } from './debian-packages.js'

/** Reports once, at the end of a run, which tests were skipped because a Debian package is missing. */
export default class MissingPackagesReporter implements Reporter {
  onTestRunEnd(): void {
    const report = missingReport()
    if (report) console.warn(`\n${report}`)
  }
}
