import { expect, it } from 'vitest'
import { visibleText } from './visible-text'

it('writes out what cannot be seen and what turns text about, and leaves letters alone', () => {
  expect(visibleText('if (admin\u202e \u2066// check\r')).toBe('if (admin⟨U+202E⟩ ⟨U+2066⟩// check␍')
  expect(visibleText('a\u0000b\u007f')).toBe('a␀b␡')
  expect(visibleText('tab\tשלום سلام 👩‍🚒\n')).toBe('tab\tשלום سلام 👩‍🚒\n')
})
