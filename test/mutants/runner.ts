import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { startTests } from '@vitest/runner'
import {
  type RunnerTask,
  type RunnerTestCase,
  type RunnerTestFile,
  type RunnerTestSuite,
  TestRunner,
} from 'vitest'
import { mutantsOf } from './mutants.js'
import { type Coverage, Report, type RunTest } from './report.js'

/** A test of a mutant fails when it takes longer than this, and longer than this many times what it takes without one. */
const PATIENCE_MS = 20_000
const PATIENCE = 10
/** Tests that take longer than one of these run after all that do not. */
const TIERS_MS = [100, 400, 1_500]
/** The time of the processor that this process took. What a test took of it is the same while others use the machine. */
const cpuMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000

const {
  MUTANTS_OF: file = '',
  MUTANTS_REPORT: folder = '',
  MUTANTS_TESTS = '',
  MUTANTS_BUDGET_MS,
} = process.env
/** The tests of one mutant take no longer than this together, by what they take without it. */
const budgetMs = Number(MUTANTS_BUDGET_MS)
const { setTimeout, clearTimeout, setImmediate } = globalThis
const report = new Report(folder)
const source = readFileSync(file, 'utf8')
const mutants = mutantsOf(source)
report.keepMutants(source, mutants)

/** The mutant that is active, and those that would have changed something since this was emptied. */
let active: number | undefined
let reached = new Set<number>()
Reflect.set(globalThis, 'mutant', (index: number) => {
  if (!mutants[index]?.compares) reached.add(index)
  return index === active
})
Reflect.set(globalThis, 'mutantCompared', (value: unknown, ...compared: (number | (() => unknown))[]) => {
  for (let at = 0; active === undefined && at < compared.length; at += 2) {
    const [index, other] = compared.slice(at, at + 2)
    if (typeof index !== 'number' || typeof other !== 'function' || reached.has(index)) continue
    if (Boolean(other()) !== Boolean(value)) reached.add(index)
  }
  return value
})

let unhandled: unknown
process.on('unhandledRejection', (error) => {
  unhandled ??= error
})
process.on('uncaughtException', (error) => {
  unhandled ??= error
})

/** Some tests of a file, or all. */
interface Selection {
  readonly file: string
  readonly ids?: readonly string[]
  readonly ms: number
}

/** Why the tests failed, and those that show it again. */
interface Failure {
  readonly by: string
  readonly again: Selection
}

export default class MutantRunner extends TestRunner {
  filesLeft = MUTANTS_TESTS.split(',').length
  readonly tests: RunTest[] = []
  readonly loading = new Set<number>()
  readonly known = report.coverage
  readonly failing: string[] = [...(this.known?.failing ?? [])]
  readonly usual = new Map(this.known?.tests.map(({ id, ms }) => [id, ms]))
  /** The time that it takes to load a file and to run its hooks, in milliseconds, as far as it is known. */
  readonly overheads = new Map<string, number>()
  began = 0
  isMutating = false
  /** The first test that failed for the mutant, after which no other runs. */
  failed: RunnerTestCase | undefined

  override async importFile(path: string, source: 'collect' | 'setup') {
    const { modules } = this
    const module = modules.getModuleById(path)
    if (module) modules.invalidateModule(module)
    if (source === 'collect') reached = new Set()
    await super.importFile(path, source)
    if (source === 'collect' && !this.isMutating) for (const index of reached) this.loading.add(index)
  }

  /** The modules that were loaded. */
  get modules(): Modules {
    return Reflect.get(this, 'workerState').evaluatedModules
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite) {
    if (this.isOver) suite.mode = 'skip'
    await super.onBeforeRunSuite(suite)
  }

  override async onBeforeRunTask(test: RunnerTestCase) {
    if (this.isOver) test.mode = 'skip'
    await super.onBeforeRunTask(test)
    reached = new Set()
    this.began = cpuMs()
  }

  /** Whether no test has to run: the mutant is noticed, or what the tests run is known from an earlier process. */
  get isOver() {
    return this.isMutating ? this.failed !== undefined : this.known !== undefined
  }

  async runTask(test: RunnerTestCase) {
    const run = TestRunner.getTestFn(test)
    if (!this.isMutating) return run()
    let timer: NodeJS.Timeout | undefined
    const limit = Math.max(PATIENCE_MS, PATIENCE * (this.usual.get(test.id) ?? 0))
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`took longer than ${limit} ms`))
      }, limit)
    })
    try {
      await Promise.race([run(), late])
    } finally {
      clearTimeout(timer)
    }
  }

  override onAfterRunTask(test: RunnerTestCase) {
    super.onAfterRunTask(test)
    const state = test.result?.state
    if (this.isMutating) {
      if (state === 'fail') this.failed ??= test
    } else if (state === 'pass') {
      this.tests.push({
        file: test.file.filepath,
        id: test.id,
        ms: cpuMs() - this.began,
        reached: [...reached],
      })
    } else if (state === 'fail') this.failing.push(nameOf(test))
  }

  override async onAfterRunFiles() {
    super.onAfterRunFiles()
    if (this.isMutating || --this.filesLeft > 0) return
    if (!this.known) {
      report.keepCoverage({ tests: this.tests, loading: [...this.loading], failing: this.failing })
    }
    for (const { id, ms } of this.tests) this.usual.set(id, ms)
    // The tests of mutants are no results of this run.
    const { onTaskUpdate, onCollected, onCollectStart } = this as VitestHooks
    Object.assign(this, {
      onTaskUpdate: undefined,
      onCollected: undefined,
      onCollectStart: super.onCollectStart,
    })
    this.isMutating = true
    await this.mutate()
    this.isMutating = false
    Object.assign(this, { onTaskUpdate, onCollected, onCollectStart })
  }

  async mutate(): Promise<void> {
    const { tests, loading }: Coverage = report.coverage ?? { tests: [], loading: [], failing: [] }
    const files = [...new Set(tests.map((test) => test.file))]
    const kills = new Map<string, number>()
    for (const [index, mutant] of mutants.entries()) {
      const before = report.results().filter((result) => result.index === index)
      if (before.some(({ outcome }) => outcome !== 'begun')) continue
      const using = tests.filter((test) => test.reached.includes(index))
      const isLoaded = mutant.loaded || (using.length === 0 && loading.includes(index))
      // A mutant that was begun before and not ended gets all tests of the files, in case they need one another.
      const isWhole = isLoaded || before.length > 0
      const costOf = ({ file: one, ms }: Selection) => ms + (this.overheads.get(one) ?? 100)
      const worth = (one: Selection) => ((kills.get(one.file) ?? 0) + 0.5) / costOf(one)
      const selectionsOf = (some: readonly RunTest[]): Selection[] =>
        files
          .map((one) => {
            const selected = some.filter((test) => test.file === one)
            const ms = selected.reduce((sum, test) => sum + test.ms, 0)
            return { file: one, ms, ...(!isWhole && { ids: selected.map(({ id }) => id) }) }
          })
          .filter(({ ms }) => ms > 0)
          .sort((one, other) => worth(other) - worth(one))
      const tierOf = ({ ms }: RunTest) => TIERS_MS.filter((most) => ms > most).length
      const selections = isWhole
        ? selectionsOf(isLoaded ? tests : using)
        : [0, 1, 2, 3].flatMap((tier) => selectionsOf(using.filter((test) => tierOf(test) === tier)))
      if (before.length > 1) {
        report.keep({ index, outcome: 'unclear', by: 'fails without the mutant, too, or ends the process' })
        continue
      }
      report.keep({ index, outcome: 'begun' })
      active = index
      if (isLoaded) this.loadAgain()
      const failure = await this.firstFailure(isWhole ? selections : within(selections, costOf))
      active = undefined
      if (isLoaded) this.loadAgain()
      if (!failure) {
        report.keep({ index, outcome: 'survived', tests: isLoaded ? tests.length : using.length })
        continue
      }
      kills.set(failure.again.file, (kills.get(failure.again.file) ?? 0) + 1)
      // Whatever fails without the mutant, too, says nothing of it. It may be what the mutant left behind.
      const isClean = !(await this.firstFailure([failure.again]))
      if (isClean) report.keep({ index, outcome: 'killed', by: failure.by })
      else return void process.kill(process.pid, 'SIGKILL')
    }
  }

  /** Has the source loaded anew, with all that imports it, when it is imported next. */
  loadAgain() {
    const { modules } = this
    const waiting = [...modules.idToModuleMap.values()].filter(({ id }) => id.endsWith(`/${file}`))
    const seen = new Set(waiting)
    for (const module of waiting) {
      for (const id of module.importers) {
        const importer = modules.getModuleById(id)
        if (importer && !seen.has(importer)) waiting.push(importer)
        if (importer) seen.add(importer)
      }
      modules.invalidateModule(module)
    }
  }

  forget() {
    this.failed = undefined
    unhandled = undefined
  }

  async firstFailure(selections: readonly Selection[]): Promise<Failure | undefined> {
    for (const selection of selections) {
      this.forget()
      const spec = {
        filepath: selection.file,
        fileTags: [],
        ...(selection.ids && { testIds: [...selection.ids] }),
      }
      const began = cpuMs()
      const [ran] = await startTests([spec], this)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      const { failed } = this
      if (!failed) this.overheads.set(selection.file, Math.max(0, cpuMs() - began - selection.ms))
      if (failed && this.failing.includes(nameOf(failed))) continue
      if (failed) {
        return { by: nameOf(failed), again: { file: selection.file, ids: [failed.id], ms: 0 } }
      }
      if (ran && hasFailed(ran)) return { by: `hooks of ${nameOf(ran)}`, again: selection }
      if (unhandled !== undefined) return { by: `unhandled: ${unhandled}`, again: selection }
    }
    return undefined
  }
}

/** As many of the selections as fit into the time that one mutant gets, and at least one. */
function within(selections: readonly Selection[], costOf: (one: Selection) => number): Selection[] {
  let left = budgetMs
  return selections.filter((one) => {
    const cost = costOf(one)
    const fits = left === budgetMs || cost <= left
    if (fits) left -= cost
    return fits
  })
}

interface Module {
  readonly id: string
  readonly importers: ReadonlySet<string>
}

interface Modules {
  readonly idToModuleMap: ReadonlyMap<string, Module>
  getModuleById(id: string): Module | undefined
  invalidateModule(module: Module): void
}

interface VitestHooks {
  readonly onTaskUpdate?: unknown
  readonly onCollected?: unknown
  readonly onCollectStart?: unknown
}

function hasFailed(task: RunnerTask): boolean {
  return task.result?.state === 'fail' || ('tasks' in task && task.tasks.some(hasFailed))
}

function nameOf(task: RunnerTestCase | RunnerTestFile): string {
  const path = relative(process.cwd(), task.file.filepath)
  return task === task.file ? path : `${path} > ${'fullTestName' in task ? task.fullTestName : task.name}`
}
