import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { run } from '../src/cli/program.js'
import { findSimulatedOutcome } from '../src/flows/test-mode/simulated-carrier.js'
import { SUBJECTS } from '../src/operator/diagnostic.js'

const text = await readFile(new URL('../docs/operating.md', import.meta.url), 'utf8')
/** The first cells of table rows. */
const cellsOf = (part: string) => [...part.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell)

test('operating.md describes every command, and no others', async () => {
  const commands = cellsOf(text.slice(0, text.indexOf('## The doctor')))
  const subcommands = async (...path: string[]) => {
    let help = ''
    const io = {
      env: {},
      out(text: string) {
        help += `${text}\n`
      },
      err() {},
    }
    await run([...path, '--help'], io)
    const list = help.slice(help.indexOf('Commands:')).split('\n\n')[0] ?? ''
    return [...list.matchAll(/^ {2}([a-z-]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help')
  }
  const known: string[] = []
  for (const name of await subcommands()) {
    const group = ['app', 'key', 'user', 'traffic', 'complaint', 'operator', 'webhook'].includes(name)
    known.push(...(group ? (await subcommands(name)).map((inner) => `${name} ${inner}`) : [name]))
  }
  const explained = commands.map((cell) => /^[a-z-]+(?: [a-z][a-z-]*(?= |$))?/.exec(cell)?.[0] ?? cell)
  expect(explained.sort()).toEqual(known.sort())
})

test('operating.md describes every subject of the doctor', () => {
  const table = text.slice(text.indexOf('## The doctor'), text.indexOf('## Applications'))
  expect(cellsOf(table)).toEqual(SUBJECTS)
})

test('operating.md describes every contact with a simulated outcome', () => {
  const contacts = cellsOf(text).filter((cell) => cell.endsWith('@test.invalid'))
  expect(contacts.map(findSimulatedOutcome)).toEqual(contacts.map((contact) => contact.split('@')[0]))
  for (let number = 1; number <= 9; number++) {
    const phone = `+1500555000${number}`
    expect([phone, text.includes(phone)]).toEqual([
      phone,
      number === 6 || findSimulatedOutcome(phone) !== undefined,
    ])
  }
})
