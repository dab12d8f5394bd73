'use client'
import { Button } from '@/components/ui/button'
import { Field, Input } from '@/components/ui/field'
import { builtInRoles, isRole } from '@/lib/hitl/roles'
import { type RoleChoice, toggled, withDraft } from './role-choice'
import { notARole, roleWords, wordsOfOwnRole } from './words'

/** The roles of our own with what each may do, those of the house, and a line to write another. */
export function RolePicker({
  value,
  onChange,
  fault,
}: {
  value: RoleChoice
  onChange: (next: RoleChoice) => void
  /** What the whole choice was refused for. */
  fault: string | undefined
}) {
  const own = value.roles.filter((role) => !(builtInRoles as readonly string[]).includes(role))
  const draft = value.draft.trim()
  const add = () => onChange(withDraft(value))
  return (
    <fieldset className="flex flex-col">
      <legend className="pb-1 text-t1 text-ink-2">Roles</legend>
      {builtInRoles.map((role) => (
        <Choice key={role} role={role} value={value} onChange={onChange} words={roleWords[role]} />
      ))}
      {own.map((role) => (
        <Choice key={role} role={role} value={value} onChange={onChange} words={wordsOfOwnRole(role)} />
      ))}
      <div className="mt-2">
        <Field
          label="Another role"
          optional
          help="A role that workflows ask for by name, such as security. operator:oncall also includes all that an operator may do."
          error={fault ?? (draft.length > 2 && /[^a-z0-9_:.-]/.test(draft) ? notARole(draft) : undefined)}
        >
          {(ids) => (
            <span className="flex gap-2">
              <Input
                {...ids}
                autoCapitalize="none"
                autoComplete="off"
                spellCheck={false}
                maxLength={81}
                className="mono"
                value={value.draft}
                onChange={(event) => onChange({ ...value, draft: event.target.value })}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || draft === '') return
                  // Enter adds the role; only from an empty line does it send the form.
                  event.preventDefault()
                  add()
                }}
              />
              <Button disabled={!isRole(draft)} onClick={add}>
                Add
              </Button>
            </span>
          )}
        </Field>
      </div>
    </fieldset>
  )
}

function Choice({
  role,
  value,
  onChange,
  words,
}: {
  role: string
  value: RoleChoice
  onChange: (next: RoleChoice) => void
  words: string | undefined
}) {
  return (
    <label className="flex items-start gap-2 py-1 max-md:min-h-12 max-md:items-center">
      <input
        type="checkbox"
        checked={value.roles.includes(role)}
        onChange={() => onChange(toggled(value, role))}
        className="mt-0.5 size-4 shrink-0 accent-ink max-md:mt-0 max-md:size-5"
      />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {role} <span className="text-ink-3">{words}</span>
      </span>
    </label>
  )
}
