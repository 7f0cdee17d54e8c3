/** How long one step of a store may take, in milliseconds. */
const STORE_WAIT_MS = 3_000

/**
 * What `work` comes to, or a failure when it takes longer than `waitMs`, by default what one step of a store may take.
 * The work itself is not taken back: it may still be done, and what it comes to then is heard by nobody.
 */
export async function inTime<Result>(work: Promise<Result>, waitMs = STORE_WAIT_MS): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not answer within ${waitMs / 1000} s.`)), waitMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
