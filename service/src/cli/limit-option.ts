import { InvalidArgumentError, Option } from 'commander'

/** `--limit`, for commands that list something. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'the maximum number of entries').argParser(readLimit).default(50)
}

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 99999.')
  return Number(text)
}
