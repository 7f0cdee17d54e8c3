/** Whether `npm run test:long` runs: what differs in one way only from what `.ci/run` tests, and what that has no time for. */
export const isLong = process.env.TEST_LONG === 'true'
