import { describe, expect, it } from 'vitest'
import { assets } from '../../src/pages/assets.js'

describe('the assets', () => {
  it('are a style sheet and a script', () => {
    expect(assets['mfa.css'].type).toBe('text/css; charset=utf-8')
    expect(assets['mfa.js'].type).toBe('text/javascript; charset=utf-8')
  })

  it.each(Object.entries(assets))('have a version that fits into a URL: %s', (_, { version }) => {
    expect(version).toMatch(/^[\w-]{10}$/)
  })

  it.each(Object.entries(assets))('load nothing from elsewhere: %s', (_, { body }) => {
    expect(body).not.toMatch(/https?:|url\(|@import|\bimport\(|fetch\((?!mfaFollow,)|innerHTML|eval\(/)
  })

  it('define every custom property that the style sheet uses', () => {
    const { body } = assets['mfa.css']
    const used = new Set([...body.matchAll(/var\((--mfa-[\w-]+)/g)].map(([, name]) => name))
    const given = new Set([...body.matchAll(/^\s+(--mfa-[\w-]+):/gm)].map(([, name]) => name))
    expect([...used].filter((name) => !given.has(name))).toEqual([])
    expect([...given].filter((name) => !used.has(name))).toEqual([])
  })
})
