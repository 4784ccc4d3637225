import { type FormEvent, useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { CheckboxField } from '../../../../components/checkbox-field.tsx';
import { CodeEditor } from '../../../../components/code-editor/code-editor.tsx';
import { ProblemNotice } from '../../../../components/problem-notice.tsx';
import { usePermissions } from '../../../../session/permissions.ts';
import type { SecretRef } from '../../queries.ts';
import type { SecretPaths } from '../secret-paths.ts';
import { type Draft, dataOfDraft, switched } from './draft.ts';
import { PairFields } from './pair-fields.tsx';
import { useWriting, type Writing } from './writing.ts';

interface WriteFormProps {
  secret: SecretRef;
  paths: SecretPaths;
  /** The newest version, 0 if there is none, undefined if the token may not know. */
  current: number | undefined;
}

/** Writes the next version, if the token may. */
export function WriteForm({ secret, paths, current }: WriteFormProps) {
  const { may } = usePermissions([paths.data]);
  const mayWrite = may(current === 0 ? 'create' : 'update', paths.data);
  const mayPatch = current !== 0 && may('patch', paths.data);
  if (!mayWrite && !mayPatch) return null;
  return (
    <section aria-label="New version">
      <h2>{current === 0 ? 'First version' : 'New version'}</h2>
      <Writer
        secret={secret}
        current={current}
        mayWrite={mayWrite}
        mayPatch={mayPatch}
        mayRead={current !== 0 && may('read', paths.data)}
      />
    </section>
  );
}

interface WriterProps {
  secret: SecretRef;
  current: number | undefined;
  mayWrite: boolean;
  mayPatch: boolean;
  mayRead: boolean;
}

function Writer({ secret, current, mayWrite, mayPatch, mayRead }: WriterProps) {
  const writing = useWriting(secret, { current, replaces: mayWrite });
  return (
    <>
      <Form writing={writing} current={current} mayChoose={mayWrite && mayPatch} mayRead={mayRead} />
      {writing.written !== undefined && (
        <p className="notice notice-good" role="status">
          Version {writing.written} was written.
        </p>
      )}
    </>
  );
}

interface FormProps {
  writing: Writing;
  current: number | undefined;
  /** Whether the token may both replace a version and change keys of it. */
  mayChoose: boolean;
  mayRead: boolean;
}

function Form({ writing, current, mayChoose, mayRead }: FormProps) {
  const { draft, setDraft } = writing;
  const [reason, setReason] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const data = dataOfDraft(draft);
    setReason(typeof data === 'string' ? data : undefined);
    if (typeof data !== 'string') writing.write(data);
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row">
        <Button onPress={() => setDraft(switched(draft))}>
          {draft.form === 'pairs' ? 'Edit as JSON' : 'Edit as keys and values'}
        </Button>
        {mayRead && (
          <Button isPending={writing.isReading} onPress={writing.readNewest}>
            Begin with the newest version
          </Button>
        )}
      </div>
      <DraftFields draft={draft} onChange={setDraft} />
      {mayChoose && (
        <CheckboxField
          label="Keep the other keys of the newest version."
          help="Otherwise, the new version has only the keys above."
          isSelected={!writing.replaces}
          onChange={(keeps) => writing.setReplaces(!keeps)}
        />
      )}
      {current !== undefined && (
        <CheckboxField
          label={
            current === 0
              ? 'Only if it still does not exist.'
              : `Only if version ${current} is still the newest.`
          }
          help="Check-and-set: a version that was written in the meantime is not superseded unseen."
          isSelected={writing.checks}
          onChange={writing.setChecks}
        />
      )}
      {reason && (
        <p className="field-error" role="alert">
          {reason}
        </p>
      )}
      {writing.error !== undefined && <ProblemNotice title="Nothing was written." error={writing.error} />}
      <div>
        <Button type="submit" kind="primary" isPending={writing.isPending}>
          Write
        </Button>
      </div>
    </form>
  );
}

const DraftFields = ({ draft, onChange }: { draft: Draft; onChange(draft: Draft): void }) =>
  draft.form === 'pairs' ? (
    <PairFields pairs={draft.pairs} onChange={(pairs) => onChange({ form: 'pairs', pairs })} />
  ) : (
    <CodeEditor
      label="Data as JSON"
      language="json"
      help="An object. The values are visible while you edit them."
      value={draft.text}
      onChange={(text) => onChange({ form: 'json', text })}
    />
  );
