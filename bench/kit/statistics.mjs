/** The middle value. */
export function median(values) {
  return percentile(ascending(values), 0.5)
}

/** The values below which a quarter and three quarters of the values lie. */
export function quartiles(values) {
  const sorted = ascending(values)
  return [percentile(sorted, 0.25), percentile(sorted, 0.75)]
}

/** The value below which `share` (0 to 1) of the sorted values lie. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

function ascending(values) {
  return Float64Array.from(values).sort()
}
