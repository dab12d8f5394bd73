'use client'
import { RadioRow, RadioRows } from './radio-rows'

/** A dry run, or for real. The dry run is what is chosen until somebody chooses otherwise. */
export function WayChoice({ dryRun, onChoose }: { dryRun: boolean; onChoose: (dryRun: boolean) => void }) {
  return (
    <RadioRows legend="How">
      <RadioRow
        name="way"
        title="As a dry run"
        about="Walks the same steps and touches nothing outside: no request, no file, no command. Steps that read an answer get a stand-in."
        chosen={dryRun}
        onChoose={() => onChoose(true)}
      />
      <RadioRow
        name="way"
        title="For real"
        about="Does what follows again, with the same checks and questions as any run."
        chosen={!dryRun}
        onChoose={() => onChoose(false)}
      />
    </RadioRows>
  )
}
