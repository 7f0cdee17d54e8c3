import { describeHost } from './describe-host.js'

describeHost('Express 5 and Passport 0.7', () => undefined)
