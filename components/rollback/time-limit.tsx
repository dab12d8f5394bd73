import { Field, Select } from '@/components/ui/field'

/** Seconds, as people say them; the first is what holds where nobody says anything. */
const limits = [
  { seconds: 60, words: '1 minute' },
  { seconds: 300, words: '5 minutes' },
  { seconds: 900, words: '15 minutes' },
  { seconds: 3_600, words: '1 hour' },
] as const

/** How long the rollback may take, in seconds. */
type TimeLimitS = (typeof limits)[number]['seconds']

export const usualTimeLimitS: TimeLimitS = limits[0].seconds

/** Asks how long it may take: agents that answer slowly need more than the usual minute. */
export function TimeLimit({
  value,
  onChange,
}: {
  value: TimeLimitS
  onChange: (seconds: TimeLimitS) => void
}) {
  return (
    <Field label="May take" help="What is not back by then is handed to a person.">
      {(ids) => (
        <Select
          {...ids}
          value={value}
          onChange={(event) => {
            const chosen = limits.find(({ seconds }) => seconds === Number(event.target.value))
            if (chosen) onChange(chosen.seconds)
          }}
        >
          {limits.map(({ seconds, words }) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
