import { vi } from 'vitest'
import { signsIn } from './journey.js'

vi.mock('express', async () => import('express4'))

signsIn('Express 4 and Passport 0.7', () => undefined)
