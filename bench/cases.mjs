/**
 * In the order of the page. `peers`: the case needs the packages of bench/package.json. `once`: the Node major hardly changes
 * its figures, so it is measured on the first one only. `long`: it takes more than an hour, so it runs only when it is named, and
 * the page shows its last result.
 */
export const CASES = {
  page: {},
  statuses: {},
  verify: {},
  challenge: {},
  tokens: { once: true },
  redis: {},
  'redis-commands': { once: true },
  'store-distance': { once: true },
  'app-code': { peers: true },
  'mfa-pages': {},
  import: {},
  'session-size': { once: true },
  cluster: { once: true },
  overload: { once: true },
  bursts: { once: true },
  'hanging-service': { once: true },
  soak: { long: true },
  'service-verify': {},
  'service-verify-pglite': {},
  'service-send': { once: true },
  'service-scale': { once: true },
  'service-plans': { once: true },
  'service-console': { once: true },
  'service-start': { once: true },
  outbox: { once: true },
  'unknown-users': { once: true },
}
