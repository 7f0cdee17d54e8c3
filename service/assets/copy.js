/* Adds a button to a secret that is shown once, which copies it. Without it, a click selects the secret. */
;(() => {
  if (!navigator.clipboard) return
  for (const secret of document.querySelectorAll('code.once')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'small-button'
    button.textContent = 'Copy'
    const status = document.createElement('span')
    status.className = 'mfa-hint'
    status.setAttribute('role', 'status')
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(secret.textContent)
        status.textContent = 'Copied.'
      } catch {
        status.textContent = 'The browser did not allow it. Select the text and copy it.'
      }
    })
    const row = document.createElement('div')
    row.className = 'copy'
    row.append(button, status)
    secret.after(row)
  }
})()
