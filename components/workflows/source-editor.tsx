'use client'
import { json } from '@codemirror/lang-json'
import { lintGutter, type Diagnostic as Marker, setDiagnostics } from '@codemirror/lint'
import CodeMirror, { EditorView, type ReactCodeMirrorRef } from '@uiw/react-codemirror'
import { useEffect, useImperativeHandle, useRef } from 'react'
import type { Diagnostic } from '@/lib/base/diagnostic'

export interface SourceEditorHandle {
  /** Puts the cursor at a place (both from 1) and shows it. */
  goTo: (line: number, column: number) => void
}

/** A gutter mark: a path in the 16 px grid as a mask, so that its colour can be a custom property. */
function marked(color: string, path: string, width: number) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="black" stroke-width="${width}"><path d="${path}"/></svg>`
  return {
    content: 'normal',
    backgroundColor: color,
    mask: `url("data:image/svg+xml,${encodeURIComponent(svg)}") center / contain no-repeat`,
  }
}

/** The editor in the console's own colours: they follow the theme by themselves, being custom properties. */
const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink-2)', fontSize: 'var(--t1)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink-3)',
    border: 'none',
    paddingLeft: '8px',
  },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'var(--selected) !important',
  },
  '.cm-matchingBracket': {
    backgroundColor: 'var(--selected) !important',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failed-mark)',
    textUnderlineOffset: '4px',
    color: 'var(--ink)',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline dotted var(--ink)',
    textUnderlineOffset: '4px',
  },
  '.cm-lintRange-info': { backgroundImage: 'none' },
  // The shapes of the state table, in its colours: a cross and a triangle; a remark is a dot in a ring.
  '.cm-lint-marker': { width: '12px', height: '12px', marginTop: '4px', content: 'normal' },
  '.cm-lint-marker-error': marked('var(--failed-mark)', 'M4 4l8 8M12 4l-8 8', 2),
  '.cm-lint-marker-info': marked(
    'var(--ink-3)',
    'M8 2.500a5.500 5.500 0 1 0 .01 0M8 7.500v3.500M8 5v.01',
    1.5,
  ),
  '.cm-lint-marker-warning': marked('var(--ink-2)', 'M8 2.5l6 11H2zM8 6.500v3M8 11.500v.01', 1.5),
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    color: 'var(--ink)',
  },
  '.cm-panels': { backgroundColor: 'var(--canvas)', color: 'var(--ink)', borderColor: 'var(--line)' },
})

/** A workflow's text with its faults marked where they are. Reading it is the same picture without a caret. */
export function SourceEditor({
  text,
  onChange,
  diagnostics,
  label,
  ref,
}: {
  text: string
  /** Absent: the text is for reading. */
  onChange?: (text: string) => void
  diagnostics: readonly Diagnostic[]
  label: string
  ref?: React.Ref<SourceEditorHandle>
}) {
  const editor = useRef<ReactCodeMirrorRef>(null)
  useImperativeHandle(ref, () => ({
    goTo(line, column) {
      const view = editor.current?.view
      if (!view) return
      const at = offsetOf(view, line, column)
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
      view.focus()
    },
  }))
  useEffect(() => {
    const view = editor.current?.view
    if (view) view.dispatch(setDiagnostics(view.state, markersOf(view, diagnostics)))
  }, [diagnostics])
  return (
    <CodeMirror
      ref={editor}
      value={text}
      onChange={onChange}
      onCreateEditor={(view) => view.dispatch(setDiagnostics(view.state, markersOf(view, diagnostics)))}
      readOnly={!onChange}
      theme="none"
      height="100%"
      className="h-full min-h-0 overflow-hidden"
      extensions={[
        look,
        json(),
        lintGutter(),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ]}
      basicSetup={{
        foldGutter: false,
        highlightActiveLine: Boolean(onChange),
        autocompletion: false,
        syntaxHighlighting: false,
      }}
    />
  )
}

function offsetOf(view: EditorView, line: number, column: number): number {
  const { doc } = view.state
  const found = doc.line(Math.max(1, Math.min(line, doc.lines)))
  return Math.min(found.from + Math.max(0, column - 1), found.to)
}

/** Ends of the word that a fault begins at: a string, a name, a number. */
const word = /^("(?:[^"\\]|\\.)*"|[\w.+-]+|\S)/

function markersOf(view: EditorView, diagnostics: readonly Diagnostic[]): Marker[] {
  return diagnostics.map((fault) => {
    const from = offsetOf(view, fault.line, fault.column)
    const rest = view.state.doc.lineAt(from).text.slice(from - view.state.doc.lineAt(from).from)
    const to = from + (word.exec(rest)?.[0].length ?? 0)
    return { from, to, severity: fault.severity, message: `${fault.message} ${fault.mend}` }
  })
}
