import { ConfigurationError } from '@countersign/service'
import { OptionsError } from 'countersign'
import { ConfigError } from './config.js'

const EXPLAINED = [ConfigError, OptionsError, ConfigurationError]

/** Prints why the process ends: an error in the configuration as its message, any other error with its stack. */
export function reportFault(error: unknown): void {
  const known = EXPLAINED.some((kind) => error instanceof kind)
  console.error(known && error instanceof Error ? error.message : error)
}
