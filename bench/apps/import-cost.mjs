// Tells what importing Countersign costs a process that has Express already, and what Express costs.
const processorMs = ({ user, system }) => (user + system) / 1000
const beforeExpress = process.cpuUsage()
await import('express')
const expressMs = processorMs(process.cpuUsage(beforeExpress))
const before = process.cpuUsage()
const { rss } = process.memoryUsage()
await import('countersign')
const ms = processorMs(process.cpuUsage(before))
const megabytes = (process.memoryUsage().rss - rss) / 2 ** 20
console.log(JSON.stringify({ ms, megabytes, expressMs }))
