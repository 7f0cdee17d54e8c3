/**
 * Stands in for the observation of the event loop, in tests only: on a slow machine, hundreds of requests that a test sends at once
 * keep the processor busy for so long that the app would refuse some of them.
 */
export const eventLoopSaturation = () => () => false
