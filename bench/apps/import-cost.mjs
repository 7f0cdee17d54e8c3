// Tells what importing Countersign costs a process that has Express already.
const beforeExpress = performance.now()
await import('express')
const before = performance.now()
const { rss } = process.memoryUsage()
await import('countersign')
const ms = performance.now() - before
const megabytes = (process.memoryUsage().rss - rss) / 2 ** 20
console.log(JSON.stringify({ ms, megabytes, expressMs: before - beforeExpress }))
