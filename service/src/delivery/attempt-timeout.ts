/** How long one try may take, with all carriers that are asked in turn; shorter than the lease of a letter. */
export const TRY_MS = 10_000
