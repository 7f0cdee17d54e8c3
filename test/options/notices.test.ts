import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/settings.js'
import { faultsOf, WORKING } from './read.js'

const noticeStore = 'memory'

describe('the option publicUrl', () => {
  it.each(['https://app.example', 'https://app.example/', 'http://localhost:3000', 'http://[::1]:3000'])(
    'can be %s',
    (publicUrl) => {
      const read = readOptions({ ...WORKING, publicUrl, noticeStore })
      expect(read.publicUrl).toBe(new URL(publicUrl).origin)
    },
  )

  it.each([
    'app.example',
    'http://app.example',
    'https://app.example/shop',
    'https://app.example/?a=1',
    'https://a:b@app.example',
    'javascript:alert(1)',
    7,
  ])('R16 R18 cannot be %s', (publicUrl) => {
    expect(faultsOf({ publicUrl, noticeStore })).toEqual([
      expect.stringContaining('publicUrl must be the https address of the app without a path'),
    ])
  })

  it('needs a place for the links', () => {
    const publicUrl = 'https://app.example'
    expect(faultsOf({ publicUrl })).toEqual([expect.stringContaining('give noticeStore, or trustedDevices')])
    expect(faultsOf({ publicUrl, trustedDevices: { store: 'memory' } })).toEqual([])
    expect(faultsOf({ publicUrl, noticeStore: 'redis' })).toEqual([
      expect.stringContaining('noticeStore must be'),
    ])
  })
})
