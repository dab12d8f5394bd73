'use client'
import { Toaster as Sonner, toast } from 'sonner'
import { isRefusal, sentenceOf } from '@/lib/ui/api'
import { StateShape } from './state'

/** Where toasts appear: at the foot, away from the buttons of a decision. Mounted once, by the shell. */
export function Toaster() {
  return (
    <Sonner
      position="bottom-right"
      visibleToasts={3}
      offset={{ bottom: 16, right: 16 }}
      mobileOffset={{ bottom: 72 }}
      icons={{ success: <StateShape state="done" />, error: <StateShape state="failed" /> }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            'flex w-full md:w-[360px] items-start gap-2 rounded-r2 border border-line-strong bg-surface px-3 py-2.5 text-t2 text-ink font-sans',
          icon: 'mt-0.5 shrink-0',
          content: 'min-w-0 flex-1',
          title: 'font-medium',
          description: 'text-ink-2',
          actionButton:
            'ml-auto h-7 shrink-0 self-center rounded-r2 border border-line-strong px-2.5 font-medium whitespace-nowrap',
        },
      }}
    />
  )
}

/** Says what was done, in the past tense. `detail` is one more sentence; `action` one button. */
export function tell(
  sentence: string,
  more: { detail?: string; action?: { word: string; act: () => void } } = {},
): void {
  toast.success(sentence, {
    ...(more.detail ? { description: more.detail } : {}),
    ...(more.action ? { action: { label: more.action.word, onClick: more.action.act } } : {}),
  })
}

/**
 * Says why an act came to nothing: `notDone` ("No run was started") is claimed only where the server refused it. Where no
 * whole answer came, nobody knows yet, and the title says just that.
 */
export function warnOf(notDone: string, error: unknown): void {
  warn(isRefusal(error) ? notDone : 'It is not known whether this was done', sentenceOf(error))
}

/** Names a toast, to take it away once it is no longer true. */
export type ToastId = string | number

/** Says what was not done. Stays longer, since it asks for something. */
export function warn(sentence: string, detail?: string): ToastId {
  return toast.error(sentence, { duration: 10_000, ...(detail ? { description: detail } : {}) })
}

/** Takes a toast away that no longer holds; one that is gone already is no fault. */
export function untell(id: ToastId): void {
  toast.dismiss(id)
}
