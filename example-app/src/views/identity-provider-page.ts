import type { SeedUser } from '../seed-users.js'
import { html } from './html.js'

/** The page of the identity provider on which a seed user is chosen, with a second factor or without. */
export function identityProviderPage(seedUsers: readonly SeedUser[]): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in – Vault ID</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/vault.css">
</head>
<body>
<main id="main">
<section class="card narrow">
  <h1>Vault ID</h1>
  <p class="muted">An identity provider for trying out. It asks for no password: choose who signs in, and what Vault learns about it.</p>
  <form method="post" class="stack">
    <label>User
      <select name="username">${seedUsers.map(({ username, name }) => html`<option value="${username}">${name}</option>`)}</select>
    </label>
    <button name="factor" value="mfa">Sign in with a second factor</button>
    <button name="factor" value="password" class="secondary">Sign in with the password only</button>
    <button name="factor" value="cancel" class="secondary">Cancel</button>
  </form>
</section>
</main>
</body>
</html>
`.markup
}
