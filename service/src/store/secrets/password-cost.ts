/** The cost of scrypt, as N=2^17, r=8, p=1 (OWASP) with a quarter of the memory. A hash is checked with the cost it was made with. */
export const PASSWORD_COST = { N: 2 ** 15, r: 8, p: 3 }
