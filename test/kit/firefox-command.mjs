#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { WebSocket, WebSocketServer } from 'ws'

/*
 * Starts Firefox for Playwright, which sends one command that Firefox ESR does not know. Between the two, this program answers that
 * command, and passes on all others.
 */
const UNKNOWN_TO_ESR = 'emulation.setMediaFeaturesOverride'
const LISTENS = /^(WebDriver BiDi listening on )(ws:\/\/\S+)$/

const browser = spawn('firefox-esr', process.argv.slice(2), { stdio: ['ignore', 'inherit', 'pipe'] })
browser.on('exit', (code) => process.exit(code ?? 1))
process.on('SIGTERM', () => browser.kill())

createInterface(browser.stderr).on('line', (line) => {
  const [, words, address] = LISTENS.exec(line) ?? []
  if (address === undefined) return void process.stderr.write(`${line}\n`)
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('listening', () => process.stderr.write(`${words}ws://127.0.0.1:${server.address().port}\n`))
  server.on('connection', (client, { url }) => pass(client, new WebSocket(address + url)))
})

/** Passes messages on in both directions. */
function pass(client, firefox) {
  const waiting = []
  firefox.on('open', () => {
    for (const text of waiting.splice(0)) firefox.send(text)
  })
  client.on('message', (data) => {
    const text = String(data)
    const { id, method } = JSON.parse(text)
    if (method === UNKNOWN_TO_ESR) client.send(JSON.stringify({ type: 'success', id, result: {} }))
    else if (firefox.readyState === WebSocket.OPEN) firefox.send(text)
    else waiting.push(text)
  })
  firefox.on('message', (data) => client.send(String(data)))
  firefox.on('close', () => client.close())
  client.on('close', () => firefox.close())
}
