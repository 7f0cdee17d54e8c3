import { describe, expect, it } from 'vitest'
import { mfaClient, OptionsError } from '../../src/index.js'
import { RENAMED_OPTIONS } from '../../src/option-renames.js'
import { readOptions } from '../../src/settings.js'
import { standInService } from '../kit/stand-in-service.js'
import { faultsOf, WORKING } from './read.js'

/** The options with a value at a path like `limits.lockMs`. */
function withValueAt(path: string, value: unknown): object {
  const [name = '', ...below] = path.split('.')
  if (below.length === 0) return { [name]: value }
  const group = name === 'service' ? WORKING.service : {}
  return { [name]: { ...group, ...withValueAt(below.join('.'), value) } }
}

describe('an option name of an earlier release', () => {
  it.each(Object.entries(RENAMED_OPTIONS))(
    'is a fault that names the new one: %s is now %s',
    (old, current) => {
      expect(faultsOf(withValueAt(old, 1))).toEqual([`${old} is now ${current}`])
    },
  )

  it.each(Object.keys(RENAMED_OPTIONS))('is ignored if its value is undefined: %s', (old) => {
    expect(faultsOf(withValueAt(old, undefined))).toEqual([])
  })

  it('is reported together with all other faults', () => {
    expect(faultsOf({ halfLoginMs: 5, limits: { lockMs: 1, sendsPerDay: 0 }, misspelt: 1 })).toEqual([
      'halfLoginMs is now login.pendingLifetime',
      'limits.lockMs is now limits.lockDuration',
      'limits.sendsPerDay must be a whole number of messages from 1 to 10',
      'misspelt is not an option; check its spelling',
    ])
  })

  it('is reported by mfaClient without the prefix "service."', () => {
    const make = () => mfaClient({ ...WORKING.service, timeoutMs: 200 } as never)
    expect(make).toThrow(OptionsError)
    expect(make).toThrow('  - timeoutMs is now timeout')
  })

  it('is searched only in addresses: a service object is used unchanged', () => {
    const { service } = standInService()
    expect(readOptions({ ...WORKING, service, onAppEnrolled: () => {} }).service).toBe(service)
  })
})
