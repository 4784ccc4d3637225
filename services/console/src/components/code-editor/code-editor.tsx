import { lazy, Suspense } from 'react';
import { Loading } from '../loading.tsx';
import type { EditorProps } from './editor.tsx';
import './code-editor.css';

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }));

/** An editor for JSON or HCL, with a label and line numbers. Tab leaves it, as it does any other field. */
export const CodeEditor = (props: EditorProps & { help?: string }) => (
  <div className="code-field">
    <span className="code-label" aria-hidden="true">
      {props.label}
    </span>
    <Suspense fallback={<Loading what="the editor" />}>
      <Editor {...props} />
    </Suspense>
    {props.help && <span className="field-help">{props.help}</span>}
  </div>
);
