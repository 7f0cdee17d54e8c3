import { useData } from 'vitepress'
import { h, ref } from 'vue'

/** The line of code that an app adds, and the command that starts the example app, with a button that copies it. */
export const FirstLine = {
  setup() {
    const { frontmatter } = useData()
    const isCopied = ref(false)
    const copy = async () => {
      await navigator.clipboard.writeText(frontmatter.value.first.command)
      isCopied.value = true
    }
    return () => {
      const { line, command } = frontmatter.value.first
      const button = h('button', { type: 'button', onClick: copy, 'aria-live': 'polite' }, [
        isCopied.value ? 'Copied' : 'Copy',
      ])
      return h('div', { class: 'first-line' }, [
        h('pre', { tabindex: 0 }, [h('code', line)]),
        h('p', [h('code', command), button]),
      ])
    }
  },
}
