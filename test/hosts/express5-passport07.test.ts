import { signsIn } from './journey.js'

signsIn('Express 5 and Passport 0.7', () => undefined)
