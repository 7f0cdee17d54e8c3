/** How long one step of a store may take, in milliseconds. */
const WAIT_MS = 3_000

/**
 * What a step of a store comes to, or a failure when the store says nothing for three seconds. The step itself is not
 * taken back: it may still be done, and what it comes to then is heard by nobody.
 */
export async function inTime<Result>(step: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not answer within ${WAIT_MS / 1000} s.`)), WAIT_MS)
  })
  return Promise.race([step, late]).finally(() => clearTimeout(timer))
}
