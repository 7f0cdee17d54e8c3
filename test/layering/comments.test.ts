import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PRODUCT = ['src', 'service/src']
const EVERYTHING = [...PRODUCT, 'example-app/src', 'example-app/test', 'service/test', 'test']

const EXPORT =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/

/** The TypeScript files in these folders. */
function filesIn(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.m?ts$/.test(name) && !/node_modules|\bdist\b/.test(name))
      .map((name) => join(folder, name)),
  )
}

/** The exports of a source that no doc comment precedes. Only the first overload of a function needs one. */
function undocumentedIn(source: string): string[] {
  const lines = source.split('\n')
  const names = new Set<string>()
  return lines.flatMap((line, index) => {
    const [, name] = EXPORT.exec(line) ?? []
    if (!name || names.has(name)) return []
    names.add(name)
    return lines[index - 1]?.trimEnd().endsWith('*/') ? [] : [name]
  })
}

/** The comments of a source that begin with "What", which is neither a noun nor a verb in -s. */
function questionsIn(source: string): string[] {
  return source.match(/^\s*(?:\/\*\*|\*|\/\/) What\b.*$/gm) ?? []
}

/** The findings in files, each with the path of its file. */
function findingsIn(folders: readonly string[], findIn: (source: string) => string[]): string[] {
  const files = filesIn(folders)
  expect(files.length).toBeGreaterThan(400)
  return files.flatMap((path) =>
    findIn(readFileSync(join(ROOT, path), 'utf8')).map((finding) => `${path}: ${finding.trim()}`),
  )
}

it('every export of the plugin and of the service has a doc comment', () => {
  expect(findingsIn(PRODUCT, undocumentedIn)).toEqual([])
})

it('no comment begins with "What"', () => {
  expect(findingsIn(EVERYTHING, questionsIn)).toEqual([])
})

it('an export without a doc comment is found, and a comment that begins with "What"', () =>
  everyCase(
    [
      ['/** A size. */\nexport const size = 1\n', [], []],
      ['export const size = 1\n', ['size'], []],
      ['/** A size. */\n\nexport async function size() {}\n', ['size'], []],
      ['/** What it has. */\nexport interface Size {}\n', [], ['/** What it has. */']],
      ['/**\n * What it has.\n */\nexport class Size {}\n', [], [' * What it has.']],
      ['  // What it has.\n', [], ['  // What it has.']],
      ['/** A size. */\nexport function size(of: string): 1\nexport function size(of: number): 2\n', [], []],
    ],
    ([source, undocumented, questions]) => {
      expect(undocumentedIn(source)).toEqual(undocumented)
      expect(questionsIn(source)).toEqual(questions)
    },
  ))
