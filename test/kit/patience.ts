/**
 * How long a test waits for something that it expects, before it fails: long enough for a machine that does other things too. Nothing
 * takes this long on a quiet one.
 */
export const PATIENCE_MS = 60_000
