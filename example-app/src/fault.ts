import { ConfigurationError } from '@countersign/service'
import { OptionsError } from 'countersign'
import { ConfigError } from './config.js'

const TOLD_IN_FULL = [ConfigError, OptionsError, ConfigurationError]

/** Tells why the process cannot go on: a fault of the environment by its message, anything else with its stack. */
export function tellFault(error: unknown): void {
  const known = TOLD_IN_FULL.some((kind) => error instanceof kind)
  console.error(known && error instanceof Error ? error.message : error)
}
