'use client'
import { useEffect, useState } from 'react'
import { keysRest } from '@/lib/ui/shortcuts'

/** What the guard looks at in an event: which key, or how far the pointer went. */
export interface Act {
  type: string
  key?: string
  repeat?: boolean
  movementX?: number
  movementY?: number
}

/** `swallowed`: the press answers nothing, and says so. `aware`: whoever sits there has acted on what is on screen. */
export type Guarded = 'swallowed' | 'aware' | 'nothing'

/** Keys that answer a question, or open what answers it (words.ts, event-acts.tsx). */
const answers = /^[axdnpe1-9]$/

/**
 * What an act means while a question is on screen that came there by itself. A key that answers was meant for the question
 * before; a held key is that same press, and a page that moves under a resting pointer is no act.
 */
export function guarded({ type, key = '', repeat, movementX, movementY }: Act): Guarded {
  if (type === 'pointermove') return movementX || movementY ? 'aware' : 'nothing'
  if (type !== 'keydown') return 'aware'
  if (answers.test(key)) return 'swallowed'
  return repeat ? 'nothing' : 'aware'
}

/**
 * Did the question on screen come there while the person looked? `place` names what they chose to look at: the question
 * that stands there when they come is what they came for, and any other that follows it came by itself.
 */
export function useCameByItself(question: string | undefined, place: string): boolean {
  const [chosen, setChosen] = useState({ place, question })
  if (chosen.place !== place) setChosen({ place, question })
  const met = chosen.place === place ? chosen.question : question
  return question !== undefined && question !== met
}

/**
 * Keeps answer keys from a question that came under the fingers. It begins once the card is shown, and ends with the first
 * act of the person that follows: a move, a click, another key, or an answer key, which does nothing but end it. Returns
 * true once a key was swallowed: then the card says that the same key answers it now.
 */
export function useKeyGuard(cameByItself: boolean, isShown: boolean): boolean {
  const [rests, setRests] = useState(cameByItself)
  const [hasSwallowed, setHasSwallowed] = useState(false)
  useEffect(() => {
    if (!rests) return
    const onAct = (event: Event) => {
      const means = guarded(event as Event & Act)
      if (means === 'swallowed') {
        const pressed = event as KeyboardEvent
        if (pressed.metaKey || pressed.ctrlKey || pressed.altKey || keysRest(pressed)) return
        event.preventDefault()
        event.stopImmediatePropagation()
        if (pressed.repeat || !isShown) return
        setHasSwallowed(true)
      }
      if (means !== 'nothing' && isShown) setRests(false)
    }
    for (const type of acts) window.addEventListener(type, onAct, { capture: true })
    return () => {
      for (const type of acts) window.removeEventListener(type, onAct, { capture: true })
    }
  }, [rests, isShown])
  return hasSwallowed
}

const acts = ['keydown', 'pointermove', 'pointerdown', 'wheel'] as const
