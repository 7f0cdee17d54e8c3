import { survivesFailingCallbacks } from './failing-callbacks.js'

survivesFailingCallbacks('Express 5')
