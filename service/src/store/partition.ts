/** `live` serves real users; `test` is for an application's own tests and delivers nothing. */
export type Mode = 'live' | 'test'

/** The data of an application, or of its test keys (`<name>/test`). Every application is one. */
export interface Partition {
  readonly id: string
}

const TEST_SUFFIX = '/test'

/** The id in the rows of an application's data. Names contain no slash, so test data cannot collide with an application. */
export function partitionOf(name: string, mode: Mode): string {
  return mode === 'test' ? `${name}${TEST_SUFFIX}` : name
}

/** The name of the application in whose data this id stands. */
export function nameOfPartition(id: string): string {
  return isTestPartition(id) ? id.slice(0, -TEST_SUFFIX.length) : id
}

/** Whether this id marks the data of test keys. */
export function isTestPartition(id: string): boolean {
  return id.endsWith(TEST_SUFFIX)
}
