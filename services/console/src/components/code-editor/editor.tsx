import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { hcl } from './hcl.ts';

export interface EditorProps {
  label: string;
  value: string;
  language: 'json' | 'hcl';
  isReadOnly?: boolean;
  /** Not called for changes of `value`. */
  onChange?(value: string): void;
}

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--good-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--busy-text)' },
  { tag: [tags.keyword, tags.propertyName], color: 'var(--accent)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--field)', fontSize: 'var(--text-small)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--font-mono)', caretColor: 'var(--text)', minHeight: '8rem' },
  '.cm-scroller': { maxHeight: '28rem', overflow: 'auto' },
  '.cm-gutters': { color: 'var(--text-soft)', backgroundColor: 'var(--field)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--surface-pressed)',
  },
});

/**
 * Replaces a selection itself. The browser would keep the colour of what is replaced, in a style attribute that the CSP
 * refuses and the editor removes again.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const isPlain = event.inputType === 'insertText' && event.data !== null && !event.isComposing;
    if (!isPlain || view.state.readOnly || view.state.selection.main.empty) return false;
    view.dispatch({
      ...view.state.replaceSelection(event.data),
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    event.preventDefault();
    return true;
  },
});

const languages = { json: json(), hcl } as const;

const extensionsOf = ({ label, language, isReadOnly = false }: EditorProps): Extension => [
  lineNumbers(),
  history(),
  drawSelection(),
  bracketMatching(),
  indentOnInput(),
  languages[language],
  syntaxHighlighting(colours),
  theme,
  replaceSelection,
  keymap.of([...defaultKeymap, ...historyKeymap]),
  EditorState.readOnly.of(isReadOnly),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({
    tabindex: '0',
    'aria-label': label,
    spellcheck: 'false',
    autocapitalize: 'off',
  }),
];

/**
 * CodeMirror in a shadow root: it then adopts style sheets, where it would otherwise add a style element, which the CSP
 * refuses.
 */
export function Editor(props: EditorProps) {
  const { label, language, isReadOnly, value } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `label`, `language` and `isReadOnly` need another editor; `latest` has the rest.
  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const onUpdate = EditorView.updateListener.of((update) => {
      const text = update.state.doc.toString();
      if (update.docChanged && text !== latest.current.value) latest.current.onChange?.(text);
    });
    const state = EditorState.create({
      doc: latest.current.value,
      extensions: [extensionsOf(latest.current), onUpdate],
    });
    const editor = new EditorView({ state, parent: root, root });
    view.current = editor;
    return () => editor.destroy();
  }, [label, language, isReadOnly]);

  // Before another key can be pressed: an effect that runs later would put back the text from before that key.
  useLayoutEffect(() => {
    const shown = view.current?.state.doc;
    if (shown !== undefined && shown.toString() !== value)
      view.current?.dispatch({ changes: { from: 0, to: shown.length, insert: value } });
  }, [value]);

  return <div ref={host} className="code-host" />;
}
