/** The middle value. */
export function median(values) {
  return percentile(Float64Array.from(values).sort(), 0.5)
}

/** The value below which `share` (0 to 1) of the sorted values lie. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
