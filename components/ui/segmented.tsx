'use client'
import { ToggleGroup } from 'radix-ui'

/** One of a few views, side by side. */
export function Segmented<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: T
  choices: { value: T; word: string }[]
  onChange: (value: T) => void
}) {
  return (
    <ToggleGroup.Root
      type="single"
      aria-label={label}
      value={value}
      onValueChange={(next) => next && onChange(next as T)}
      className="inline-flex shrink-0 overflow-hidden rounded-r2 border border-line-strong"
    >
      {choices.map((choice) => (
        <ToggleGroup.Item
          key={choice.value}
          value={choice.value}
          className="ring-inside h-[26px] border-l px-2.5 text-ink-2 first:border-l-0 hover:bg-hover data-[state=on]:bg-selected data-[state=on]:font-medium data-[state=on]:text-ink data-[state=on]:shadow-[inset_0_-2px_0_var(--ink)] max-md:h-[46px] max-md:px-4"
        >
          {choice.word}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}
