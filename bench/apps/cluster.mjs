import cluster from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

// Several processes of one app behind one port.
cluster.setupPrimary({ exec: fileURLToPath(new URL(`${process.env.APP}.mjs`, import.meta.url)) })
const workers = Array.from({ length: Number(process.env.WORKERS) }, () => cluster.fork())
const messages = await Promise.all(workers.map((worker) => once(worker, 'message')))
const [[{ port }]] = messages

let asked = 0
process.on('message', async ({ id, question, value }) => {
  const answers = await Promise.all(
    workers.map(async (worker) => {
      const own = asked++
      worker.send({ id: own, question, value })
      for (;;) {
        const [message] = await once(worker, 'message')
        if (message.id === own) return message.answer
      }
    }),
  )
  const sum = (name) => answers.reduce((total, answer) => total + answer[name], 0)
  process.send({
    id,
    answer: { processorUs: sum('processorUs'), rss: sum('rss'), heapUsed: sum('heapUsed') },
  })
})
process.on('disconnect', () => process.exit())
process.send({ port })
