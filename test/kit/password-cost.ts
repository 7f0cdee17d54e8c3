/** Stands in for the cost of a password of the console, in tests only: a hash takes a millisecond instead of half a second. */
export const PASSWORD_COST = { N: 2 ** 4, r: 8, p: 1 }
