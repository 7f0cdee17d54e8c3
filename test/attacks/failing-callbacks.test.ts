import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { faultsOf } from '../options/read.js'
import { TOKEN_CALLBACKS } from '../tokens/callbacks.js'
import { everyPair, survivesFailingCallbacks } from './failing-callbacks.js'
import { CALLBACKS, RECOVERY_CALLBACKS } from './host-callbacks.js'

survivesFailingCallbacks('Express 5', everyPair)

it('the tests of failing callbacks name every callback in the options (R99)', async () => {
  const files = await readdir('src/options')
  const sources = await Promise.all(files.map((file) => readFile(join('src/options', file), 'utf8')))
  const names = sources.flatMap((source) =>
    [...source.matchAll(/(\w+) = callback</g)].map(([, name]) => name),
  )
  const tested = [...Object.keys(CALLBACKS), ...Object.keys(RECOVERY_CALLBACKS), ...TOKEN_CALLBACKS]
  expect([...names, 'logger'].sort()).toEqual(tested.sort())
})

it('a text that is a function or throws when it is read is a fault at start, so no page calls it (R99)', () => {
  const title = () => 'Is it you?'
  expect(faultsOf({ languages: { texts: { en: { choose: { title } } } } })).toEqual([
    'languages.texts.en.choose.title must be text',
  ])
  const throwing = {
    get title() {
      throw new Error('host')
    },
  }
  expect(() => faultsOf({ languages: { texts: { en: { choose: throwing } } } })).toThrow('host')
})
