/** `live` serves real users; `test` is for an application's own tests and delivers nothing. */
export type Mode = 'live' | 'test'

/** Names the data of an application. */
export interface DataReference {
  /** The name of the application. */
  readonly application: string
  /** `test` stands for the data of test keys. */
  readonly mode: Mode
}

/** The data of an application, or of its test keys (`<name>/test`). Every application is one. */
export interface Partition {
  readonly id: string
}

const TEST_SUFFIX = '/test'

/** The id in the rows of an application's data. Names contain no slash, so test data cannot collide with an application. */
export function getPartition({ application, mode }: DataReference): string {
  return mode === 'test' ? `${application}${TEST_SUFFIX}` : application
}

/** The data with this id in its rows. */
export function parsePartition(id: string): DataReference {
  return { application: nameOfPartition(id), mode: isTestPartition(id) ? 'test' : 'live' }
}

/** The name of the application in whose data this id stands. */
export function nameOfPartition(id: string): string {
  return isTestPartition(id) ? id.slice(0, -TEST_SUFFIX.length) : id
}

/** Whether this id marks the data of test keys. */
export function isTestPartition(id: string): boolean {
  return id.endsWith(TEST_SUFFIX)
}
