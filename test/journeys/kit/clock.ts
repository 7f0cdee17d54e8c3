import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((platform) => `/usr/lib/${platform}/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))

/** A process's clock that a test can move: libfaketime reads the offset from a file. */
export interface MovableClock {
  /** For the environment of the process. */
  readonly env: Record<string, string>
  /** Puts the clock this many seconds ahead of the real one. */
  ahead(seconds: number): void
}

/** Whether a process's clock can be moved here; a person is told how to get what is missing, CI fails. */
export function hasMovableClock(): boolean {
  if (LIBRARY) return true
  if (process.env.CI)
    throw new Error('Moving the clock of a process needs libfaketime: apt-get install faketime')
  console.warn('What needs another time is left out. Get libfaketime with: apt-get install faketime')
  return false
}

/** A clock whose offset is kept in a file of this folder. */
export function movableClock(folder: string): MovableClock {
  const file = join(folder, 'clock')
  const ahead = (seconds: number) => writeFileSync(file, `+${seconds}`)
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
