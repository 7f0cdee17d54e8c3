import { AsyncLocalStorage } from 'node:async_hooks'

/** The id of the request that is being handled, which each call of the service gets. */
export const requestIds = new AsyncLocalStorage<string>()
