import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { assets } from '../../src/pages/layout.js'
import { everyCase } from '../kit/every-case.js'

describe('the assets', () => {
  it('are a style sheet and two scripts', () => {
    expect(assets['mfa.css'].type).toBe('text/css; charset=utf-8')
    expect(assets['mfa.js'].type).toBe('text/javascript; charset=utf-8')
    expect(assets['mfa-keys.js'].type).toBe('text/javascript; charset=utf-8')
  })

  it('stay small: the script for keys, which only their pages load, is 5 KB when compressed', () => {
    expect(gzipSync(assets['mfa-keys.js'].body).length).toBeLessThan(5_000)
  })

  it('have a version that fits into a URL', () =>
    everyCase(Object.entries(assets), ([_, { version }]) => {
      expect(version).toMatch(/^[\w-]{10}$/)
    }))

  it('load nothing from elsewhere', () =>
    everyCase(Object.entries(assets), ([name, { body }]) => {
      // SimpleWebAuthn names its documentation in a warning. The script for keys posts to the paths in its forms.
      const ours = name === 'mfa-keys.js' ? withoutPosts(body) : body
      expect(ours).not.toMatch(/https?:|url\(|@import|\bimport\(|fetch\((?!mfaFollow,)|innerHTML|eval\(/)
    }))

  function withoutPosts(body: string): string {
    expect(body.match(/fetch\(/g)).toHaveLength(1)
    return body.replaceAll(/See https:\/\/simplewebauthn\.dev\/|fetch\(\w+\.replace\(/g, '')
  }

  it('define every custom property that the style sheet uses', () => {
    const { body } = assets['mfa.css']
    const used = new Set([...body.matchAll(/var\((--mfa-[\w-]+)/g)].map(([, name]) => name))
    const given = new Set([...body.matchAll(/^\s+(--mfa-[\w-]+):/gm)].map(([, name]) => name))
    expect([...used].filter((name) => !given.has(name))).toEqual([])
    expect([...given].filter((name) => !used.has(name))).toEqual([])
  })
})
