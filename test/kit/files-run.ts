import { type Debugger, type Profiler, Session } from 'node:inspector'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Records which files of the repository run, by the counts that V8 keeps for each function. */
export interface FilesRun {
  /** The files of which a function ran since the last call. Loading a file, or reading what it exports, runs none of its functions. */
  take(): readonly string[]
  stop(): void
}

/** Vitest makes every export a function that returns it. */
const EXPORT = /^\(\) => \{ try \{ return [\w$.]+ \} catch \{\} \}$/

export function recordFilesRun(): FilesRun {
  const session = new Session()
  session.connect()

  /** A session of this process answers before `post` returns. */
  const call = <Answer>(method: string, parameters: object = {}): Answer => {
    const answers: Answer[] = []
    session.post(method, parameters, (failure, answer) => {
      if (failure) throw failure
      answers.push(answer as Answer)
    })
    const [answer] = answers
    if (!answer) throw new Error(`${method} has not answered.`)
    return answer
  }

  const sources = new Map<string, string>()
  const sourceOf = (scriptId: string): string => {
    const source =
      sources.get(scriptId) ??
      call<Debugger.GetScriptSourceReturnType>('Debugger.getScriptSource', { scriptId }).scriptSource
    sources.set(scriptId, source)
    return source
  }

  const hasRun = ({ scriptId, functions }: Profiler.ScriptCoverage) =>
    functions.some(({ ranges: [whole] }) => {
      if (!whole || whole.count === 0) return false
      return !EXPORT.test(sourceOf(scriptId).slice(whole.startOffset, whole.endOffset))
    })

  call('Debugger.enable')
  call('Profiler.enable')
  call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    take() {
      const { result } = call<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage')
      const own = result
        .map((script) => ({ script, file: fileOf(script.url) }))
        .filter(({ file }) => file !== undefined && !file.includes('node_modules/'))
      return own.flatMap(({ script, file }) => (file !== undefined && hasRun(script) ? [file] : []))
    },
    stop: () => session.disconnect(),
  }
}

/** The path of a script below the repository. */
function fileOf(url: string): string | undefined {
  const root = [pathToFileURL(ROOT).href, ROOT].find((start) => url.startsWith(start))
  return root === undefined ? undefined : url.slice(root.length).replace(/\?.*$/, '')
}
