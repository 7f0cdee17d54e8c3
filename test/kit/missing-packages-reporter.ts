import type { Reporter } from 'vitest/reporters'
import { missingReport } from './debian-packages.js'

/** Says once, at the end of a run, what was skipped for want of a Debian package. */
export default class MissingPackagesReporter implements Reporter {
  onTestRunEnd(): void {
    const report = missingReport()
    if (report) console.warn(`\n${report}`)
  }
}
