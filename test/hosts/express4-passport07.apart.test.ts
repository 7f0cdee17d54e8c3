import { vi } from 'vitest'
import { describeHost } from './describe-host.js'

vi.mock('express', async () => import('express4'))

describeHost('Express 4 and Passport 0.7', () => undefined)
