import { startApp } from './processes.mjs'
import { startRedis } from './redis-server.mjs'

/**
 * What a case works with. `start` starts an app of `bench/apps` beside a stub service, with the Node binary under test;
 * with `redis: true` the app keeps sessions and counters in Redis. `close` stops everything that was started.
 */
export function createBench({ node, major, isQuick = false, rounds, signIns, people, data, baseline }) {
  const started = []
  const apps = []
  const defer = (stop) => started.unshift(stop)
  let stub
  let redis

  const startStub = async () => {
    stub ??= await startApp('stub-service')
    defer(stub.stop)
    return stub
  }

  return {
    node,
    major,
    isQuick,
    signIns,
    people,
    data,
    baseline,
    rounds: rounds ?? (isQuick ? 5 : 40),
    /** Rounds that do not count: code is compiled in them. */
    warmUpRounds: isQuick ? 4 : 10,
    defer,
    stub: startStub,
    async redis() {
      if (!redis) {
        redis = await startRedis()
        defer(redis.stop)
      }
      return redis
    },
    async start(name, { redis: usesRedis = false, env = {}, ...options } = {}) {
      const { url } = await startStub()
      const redisUrl = usesRedis ? { REDIS_URL: (await this.redis()).url } : {}
      const app = await startApp(name, { node, env: { SERVICE_URL: url, ...redisUrl, ...env }, ...options })
      apps.push(app)
      defer(app.stop)
      return app
    },
    /** What the apps wrote to their error output. */
    errors: () => apps.map((app) => app.errors()).join(''),
    async close() {
      for (const stop of started.splice(0)) await stop()
    },
  }
}
