import { describe, expect, it } from 'vitest'
import { readOptions } from '../../src/options/settings.js'
import { everyCase } from '../kit/every-case.js'
import { faultsOf, WORKING } from './read.js'

const notices = { store: 'memory' }

describe('the option urls.publicUrl', () => {
  it('can have every form that the documents name', () =>
    everyCase(
      ['https://app.example', 'https://app.example/', 'http://localhost:3000', 'http://[::1]:3000'],
      (publicUrl) => {
        const read = readOptions({ ...WORKING, urls: { publicUrl }, notices })
        expect(read.urls.publicUrl).toBe(new URL(publicUrl).origin)
      },
    ))

  it('cannot be anything else (R16, R18)', () =>
    everyCase(
      [
        'app.example',
        'http://app.example',
        'https://app.example/shop',
        'https://app.example/?a=1',
        'https://a:b@app.example',
        'javascript:alert(1)',
        7,
      ],
      (publicUrl) => {
        expect(faultsOf({ urls: { publicUrl }, notices })).toEqual([
          expect.stringContaining('urls.publicUrl must be the https address of the app without a path'),
        ])
      },
    ))

  it('requires a store for the links', () => {
    const publicUrl = 'https://app.example'
    const urls = { publicUrl }
    expect(faultsOf({ urls })).toEqual([expect.stringContaining('give notices.store or trustedDevices')])
    expect(faultsOf({ urls, trustedDevices: { store: 'memory' } })).toEqual([])
    expect(faultsOf({ urls, notices: { store: 'redis' } })).toEqual([
      expect.stringContaining('notices.store must be'),
    ])
  })
})
