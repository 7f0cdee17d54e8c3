import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa } from '../../src/index.js'
import { readOptions } from '../../src/options/settings.js'
import { guessingArithmetic, guessingBound } from '../../src/protocol/guessing.js'
import { everyCase } from '../kit/every-case.js'
import { EMPTY_RECORD } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'

const required = { service: standInService().service, factors: () => [], ...EMPTY_RECORD }
const { limits } = readOptions(required)

describe('the bound for guessing a code (R96)', () => {
  it('follows from the options: guesses times valid codes, out of all codes', () => {
    expect(guessingBound(limits)).toBe(2e-4)
    expect(guessingBound({ ...limits, validCodes: 1 })).toBe(1e-4)
    expect(guessingBound({ failuresBeforeDisable: 20, validCodes: 3, digits: 8 })).toBe(6e-7)
    expect(guessingArithmetic({ failuresBeforeDisable: 70 })).toBe('70 × 2 ÷ 10⁶ = 1.4·10⁻⁴')
  })

  it('is quoted in the documents as it is computed', () =>
    everyCase(['README.md', 'SECURITY.md'], async (path) => {
      const text = (await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).replaceAll(/\s+/g, ' ')
      expect(text).toContain(guessingArithmetic(limits))
      if (path === 'SECURITY.md') expect(text).toContain(guessingArithmetic({ ...limits, validCodes: 1 }))
    }))
})

describe('diagnostics about guessing (R96)', () => {
  afterEach(() => vi.unstubAllEnvs())

  function printed(failuresBeforeDisable: number, diagnostics?: false) {
    const lines: string[] = []
    const logger = { info: (line: string) => lines.push(line), warn: () => {}, error: () => {} }
    createMfa({
      ...required,
      logger,
      limits: { failuresBeforeDisable },
      ...(diagnostics === false && { diagnostics }),
    })
    return lines
  }

  it('log the bound that follows from the options once at start in production', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(printed(50)).toEqual([expect.stringContaining('50 × 2 ÷ 10⁶ = 1·10⁻⁴')])
    expect(printed(50, false)).toEqual([])
  })

  it('log nothing in development', () => {
    vi.stubEnv('NODE_ENV', 'development')
    expect(printed(50)).toEqual([])
  })
})
