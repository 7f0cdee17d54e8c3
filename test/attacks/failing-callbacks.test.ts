import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { faultsOf } from '../options/read.js'
import { survivesFailingCallbacks } from './failing-callbacks.js'
import { CALLBACKS } from './host-callbacks.js'

survivesFailingCallbacks('Express 5')

it('the tests of failing callbacks name every callback in the options (R99)', async () => {
  const files = ['src/option-schema.ts', 'src/trust/options.ts']
  const sources = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  const names = sources.flatMap((source) => [...source.matchAll(/(\w+): callback</g)].map(([, name]) => name))
  expect([...names, 'logger'].sort()).toEqual(Object.keys(CALLBACKS).sort())
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
