'use client'
import { Field, Input, Select, Textarea } from '@/components/ui/field'
import type { Json } from '@/lib/base/json'
import type { FormField } from '@/lib/workflow/input-form'

/** One thing the workflow asks for, with the control its type wants. */
export function InputField({
  field,
  value,
  fault,
  onChange,
}: {
  field: FormField
  value: Json | undefined
  fault: string | undefined
  onChange: (value: Json | undefined) => void
}) {
  const text = value === undefined || value === null ? '' : String(value)
  if (field.type === 'boolean') {
    return (
      <label className="flex items-start gap-2 max-md:min-h-12">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
          className="mt-0.5 size-4 accent-ink"
        />
        <span>
          {field.label} {field.help && <span className="text-ink-3">{field.help}</span>}
        </span>
      </label>
    )
  }
  return (
    <Field
      label={field.label}
      help={field.help || undefined}
      error={fault && `“${field.label}” ${fault}.`}
      optional={!field.required}
    >
      {(ids) => {
        if (field.type === 'choice') {
          return (
            <Select {...ids} value={text} onChange={(event) => onChange(event.target.value)}>
              {text === '' && <option value="">Choose one</option>}
              {field.enum?.map((choice) => (
                <option key={String(choice)} value={String(choice)}>
                  {String(choice)}
                </option>
              ))}
            </Select>
          )
        }
        if (field.type === 'json' || field.type === 'long_text') {
          return (
            <Textarea
              {...ids}
              spellCheck={field.type === 'long_text'}
              className={field.type === 'json' ? 'mono min-h-24 leading-5' : 'min-h-24'}
              value={text}
              onChange={(event) => onChange(event.target.value)}
            />
          )
        }
        return (
          <Input
            {...ids}
            inputMode={field.type === 'text' ? 'text' : field.type === 'integer' ? 'numeric' : 'decimal'}
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }}
    </Field>
  )
}
