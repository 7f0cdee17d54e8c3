/** A callback whose promise the test settles, and a promise that resolves when it is called. */
export function unanswered<Answer>() {
  let settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined
  let ask = () => {}
  const called = new Promise<void>((resolve) => {
    ask = resolve
  })
  return {
    call: () => {
      ask()
      return new Promise<Answer>((resolve, reject) => {
        settle = { resolve, reject }
      })
    },
    called,
    resolve: (answer: Answer) => settle?.resolve(answer),
    reject: (error: Error) => settle?.reject(error),
  }
}

/** Sends a request, and says whether it was answered yet. */
export function sent<Answer>(request: PromiseLike<Answer>) {
  const state = { isAnswered: false }
  const answer = Promise.resolve(request).then((given) => {
    state.isAnswered = true
    return given
  })
  return { answer, state }
}
