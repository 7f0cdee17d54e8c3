import { describe, expect, it } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { print } from '../../src/cli/print.js'
import { everyCase } from '../kit/every-case.js'

/** The text that `print` hands on, on a terminal or elsewhere. */
function printed(text: string, isTerminal: boolean, env: Record<string, string> = {}): string {
  const out: string[] = []
  print(text, {
    env,
    isTerminal,
    stdin: async () => '',
    out: (line) => void out.push(line),
    err: (line) => void out.push(line),
  })
  return out.join('\n')
}

describe('the output of the command', () => {
  it('fits 80 columns in every help, and loses no word', () =>
    everyCase([[], ['init'], ['check'], ['attack'], ['contract']], async (command) => {
      const out: string[] = []
      const code = await runCommand([...command, '--help'], {
        env: {},
        stdin: async () => '',
        out: (text) => void out.push(text),
        err: () => {},
      })
      const lines = out.join('\n').split('\n')
      expect(lines.filter((line) => line.length > 80)).toEqual([])
      expect(lines.length).toBeGreaterThan(5)
      expect(code).toBe(0)
    }))

  it('goes on below its last column, and leaves a long word whole', () => {
    const reason = `reason ${'word '.repeat(20)}`.trim()
    const lines = printed(`BYPASS  GET /a  ${reason}`, false).split('\n')
    expect(lines.slice(1).every((line) => /^ {16}word/.test(line))).toBe(true)
    expect(lines.map((line) => line.trim()).join(' ')).toBe(`BYPASS  GET /a  ${reason}`)
    const address = `http://localhost:3000/${'a'.repeat(90)}`
    expect(printed(`Open ${address} now`, false).split('\n')).toEqual(['Open', address, 'now'])
  })

  it('is red for BYPASS and BROKEN, on a terminal only, and not with NO_COLOR', () => {
    const text = 'BYPASS  GET /a\nheld  BROKEN\nBROKEN  code-reuse'
    expect(printed(text, true)).toBe(
      '\u001b[31mBYPASS\u001b[39m  GET /a\nheld  BROKEN\n\u001b[31mBROKEN\u001b[39m  code-reuse',
    )
    expect(printed(text, false)).toBe(text)
    expect(printed(text, true, { NO_COLOR: '1' })).toBe(text)
  })
})
