#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { readFileLimit } from '../process/file-limit.js'

// A reader such as `head` may close the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const isInteractive = process.stdin.isTTY && process.stderr.isTTY

/** Asks on standard error, since standard output is for results. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}

async function start(): Promise<void> {
  // Loading the rest would fail with the name of some file.
  const { fault } = readFileLimit()
  if (fault !== undefined) {
    console.error(fault)
    process.exitCode = 1
    return
  }
  const { run } = await import('./program.js')
  const code = await run(process.argv.slice(2), {
    env: process.env,
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    ask: isInteractive ? ask : undefined,
  })
  process.exitCode ??= code
}

start().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
