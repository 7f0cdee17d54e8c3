/** The most by which two measurements of one program may differ in a report: the ratio of the two is 1 give or take so much. */
export const MOST_NOISE = 0.05

/** Whether two measurements of one program, of which this is the ratio, differ by more than noise may. */
export function isNoisy(sameTwice) {
  return !(Math.abs(sameTwice - 1) <= MOST_NOISE)
}
