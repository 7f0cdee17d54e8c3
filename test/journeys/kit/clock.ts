import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf, missing } from '../../kit/debian-packages.js'

const LIBRARY = fileOf('faketime')

/** The clock of a process that a test can move: libfaketime reads the offset from a file. */
export interface MovableClock {
  /** For the environment of the process. */
  readonly env: Record<string, string>
  /** Sets the clock this many seconds ahead of the real one. */
  ahead(seconds: number): void
}

/** Whether the clock of a process can be moved here. In CI it must be possible. */
export function hasMovableClock(): boolean {
  return missing('faketime') === undefined
}

/** A clock whose offset is in a file of this folder. */
export function movableClock(folder: string): MovableClock {
  const file = join(folder, 'clock')
  const ahead = (seconds: number) => {
    // Processes read the file whenever they ask for the time, and must not find it empty.
    writeFileSync(`${file}.new`, `+${seconds}`)
    renameSync(`${file}.new`, file)
  }
  ahead(0)
  return {
    env: {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    ahead,
  }
}
