import { createRequire } from 'node:module'
import express from 'express'
import { expect, it, vi } from 'vitest'
import { listAppRoutes } from '../../src/probe/app-routes.js'
import { findsBypasses } from './bypass-apps.js'

vi.mock('express', async () => import('express4'))

it('runs with Express 4', () => {
  expect(express).toBe(createRequire(import.meta.url)('express4'))
})

findsBypasses('Express 4')

it('finds routers at a list of paths in the form in which Express 4.19 stores them', () => {
  // path-to-regexp 0.1.7, of ['/a', '/b-c.d/:tenant']
  const regexp = /(?:^\/a\/?(?=\/|$)|^\/b-c\.d\/(?:([^/]+?))\/?(?=\/|$))/i
  const inner = { name: 'bound dispatch', route: { path: '/x', methods: { get: true } } }
  const layer = { name: 'router', regexp, keys: [{ name: 'tenant' }], handle: { stack: [inner] } }
  const { routes, unreadable } = listAppRoutes({ _router: { stack: [layer] } }, { tenant: 'acme' }, ['GET'])
  expect(routes.map(({ path }) => path)).toEqual(['/a/x', '/b-c.d/acme/x'])
  expect(unreadable).toEqual([])
})
