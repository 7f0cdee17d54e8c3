import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutants.js'

/** Which mutants a test runs, by their places in the list, and how long it takes the processor. */
export interface RunTest {
  readonly file: string
  readonly id: string
  readonly ms: number
  readonly reached: readonly number[]
}

/** The lines that the tests run while no mutant is active. */
export interface Coverage {
  readonly tests: readonly RunTest[]
  /** The mutants that run while a file is loaded, which happens once. */
  readonly loading: readonly number[]
  /** Tests that fail without a mutant, which prove nothing. */
  readonly failing: readonly string[]
}

/** The state of a mutant. A run that ends early leaves its last mutant `begun`. */
export interface Result {
  readonly index: number
  readonly outcome: 'begun' | 'killed' | 'survived' | 'unclear'
  /** The title of the test that failed. */
  readonly by?: string
  readonly tests?: number
}

/** The folder of what a run has found so far, from which another process goes on. */
export class Report {
  readonly #folder: string
  readonly #coverage: string
  readonly #results: string

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true })
    this.#folder = folder
    this.#coverage = join(folder, 'coverage.json')
    this.#results = join(folder, 'results.jsonl')
  }

  /** Keeps what the results are about. */
  keepMutants(source: string, mutants: readonly Mutant[]): void {
    writeFileSync(join(this.#folder, 'source.ts'), source)
    const named = mutants.map(({ name, line }) => ({ name, line }))
    writeFileSync(join(this.#folder, 'mutants.json'), JSON.stringify(named))
  }

  get coverage(): Coverage | undefined {
    return existsSync(this.#coverage) ? JSON.parse(readFileSync(this.#coverage, 'utf8')) : undefined
  }

  keepCoverage(coverage: Coverage): void {
    writeFileSync(this.#coverage, JSON.stringify(coverage))
  }

  results(): Result[] {
    if (!existsSync(this.#results)) return []
    return readFileSync(this.#results, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }

  keep(result: Result): void {
    appendFileSync(this.#results, `${JSON.stringify(result)}\n`)
  }
}
