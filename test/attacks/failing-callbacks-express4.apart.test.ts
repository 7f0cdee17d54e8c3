import { vi } from 'vitest'
import { inTurn, survivesFailingCallbacks } from './failing-callbacks.js'

vi.mock('express', async () => import('express4'))

survivesFailingCallbacks('Express 4', inTurn)
