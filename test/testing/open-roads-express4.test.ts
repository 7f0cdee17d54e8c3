import { createRequire } from 'node:module'
import express from 'express'
import { expect, it, vi } from 'vitest'
import { roadsAreFound } from './roads.js'

vi.mock('express', async () => import('express4'))

it('is what it says', () => {
  expect(express).toBe(createRequire(import.meta.url)('express4'))
})

roadsAreFound('Express 4')
