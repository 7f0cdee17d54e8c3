#!/usr/bin/env node
import { run } from './program.js'

// A reader such as `head` may close the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

run(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
}).then(
  (code) => {
    process.exitCode ??= code
  },
  (error: unknown) => {
    console.error(error)
    process.exitCode = 1
  },
)
