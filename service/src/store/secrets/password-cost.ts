/**
 * The cost of the scrypt hash of a password, after the OWASP Password Storage Cheat Sheet: as costly as N=2^17, r=8, p=1, with
 * a quarter of the memory (32 MB). A hash is checked with the cost that it was made with.
 */
export const PASSWORD_COST = { N: 2 ** 15, r: 8, p: 3 }
