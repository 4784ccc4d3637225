import { type FormEvent, useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { CodeEditor } from '../../../../components/code-editor/code-editor.tsx';
import { ProblemNotice } from '../../../../components/problem-notice.tsx';
import { usePermissions } from '../../../../session/permissions.ts';
import type { SecretRef } from '../../queries.ts';
import type { SecretPaths } from '../secret-paths.ts';
import type { Rights } from './base.ts';
import { ConflictNotice } from './conflict-notice.tsx';
import { type Draft, dataOfDraft, switched } from './draft.ts';
import { type KeyChanges, keyChanges } from './key-changes.ts';
import { PairFields } from './pair-fields.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { type EditorState, isConflict, type SecretEditor, useSecretEditor } from './secret-editor.ts';

interface WriteFormProps {
  secret: SecretRef;
  paths: SecretPaths;
  /** Whether there is a version; true if the token may not know. */
  exists: boolean;
}

/** Writes the next version, if the token may. */
export function WriteForm({ secret, paths, exists }: WriteFormProps) {
  const { may } = usePermissions([paths.data, paths.subkeys, paths.metadata]);
  const rights: Rights = {
    creates: may('create', paths.data),
    updates: may('update', paths.data),
    patches: may('patch', paths.data),
    reads: may('read', paths.data),
    readsKeys: may('read', paths.subkeys),
    readsMetadata: may('read', paths.metadata),
  };
  const mayWrite = exists ? rights.updates || rights.patches : rights.creates;
  const writing = useSecretEditor(secret, rights, exists);
  // What is being typed stays if somebody else creates the secret.
  if (!mayWrite && !(rights.creates && writing.editing)) return null;
  return (
    <section aria-label="New version">
      <h2>{exists ? 'New version' : 'First version'}</h2>
      {writing.editing ? (
        <Editor secret={secret} writing={writing} editing={writing.editing} />
      ) : (
        <Opening writing={writing} />
      )}
    </section>
  );
}

const Opening = ({ writing }: { writing: SecretEditor }) => (
  <div className="stack">
    {writing.written !== undefined && (
      <p className="notice notice-good" role="status">
        Version {writing.written} was written.
      </p>
    )}
    {writing.error !== undefined && (
      <ProblemNotice title="The newest version could not be read." error={writing.error} />
    )}
    <div>
      <Button isPending={writing.isPending} onPress={writing.open}>
        Write a new version
      </Button>
    </div>
  </div>
);

interface EditorProps {
  secret: SecretRef;
  writing: SecretEditor;
  editing: EditorState;
}

function Editor({ secret, writing, editing }: EditorProps) {
  const { base, draft } = editing;
  const [reason, setReason] = useState<string>();
  const [asked, setAsked] = useState<{
    data: Record<string, unknown>;
    changes: KeyChanges;
  }>();
  const withData = (use: (data: Record<string, unknown>) => void) => {
    const data = dataOfDraft(draft);
    setReason(typeof data === 'string' ? data : undefined);
    if (typeof data !== 'string') use(data);
  };
  const submit = (data: Record<string, unknown>) => {
    // The first version replaces nothing.
    if (base.version === 0) writing.write(base, data);
    else setAsked({ data, changes: keyChanges(base, data) });
  };
  return (
    <form
      className="stack"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        withData(submit);
      }}
    >
      <Fields writing={writing} editing={editing} />
      {reason && (
        <p className="field-error" role="alert">
          {reason}
        </p>
      )}
      <Outcome writing={writing} editing={editing} onRebase={() => withData(() => writing.rebase(editing))} />
      <div className="row">
        <Button type="submit" kind="primary" isPending={writing.isPending}>
          {base.version === 0 ? 'Write' : 'Review and write'}
        </Button>
        {base.version !== 0 && <Button onPress={writing.close}>Cancel</Button>}
      </div>
      {asked && (
        <ReviewDialog
          secret={secret}
          changes={asked.changes}
          onConfirm={() => {
            setAsked(undefined);
            writing.write(base, asked.data);
          }}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </form>
  );
}

function Fields({ writing, editing }: Omit<EditorProps, 'secret'>) {
  const { base, draft } = editing;
  const setDraft = (changed: Draft) => writing.setEditing({ ...editing, draft: changed });
  return (
    <>
      <div>
        <Button autoFocus={base.version !== 0} onPress={() => setDraft(switched(draft))}>
          {draft.form === 'pairs' ? 'Edit as JSON' : 'Edit as keys and values'}
        </Button>
      </div>
      {!base.replaces && (
        <p className="soft">Enter the keys that change; the others stay. In JSON, null removes a key.</p>
      )}
      {draft.form === 'pairs' ? (
        <PairFields pairs={draft.pairs} onChange={(pairs) => setDraft({ form: 'pairs', pairs })} />
      ) : (
        <CodeEditor
          label="Data as JSON"
          language="json"
          help="An object. The values are visible while you edit them."
          value={draft.text}
          onChange={(text) => setDraft({ form: 'json', text })}
        />
      )}
    </>
  );
}

function Outcome({ writing, editing, onRebase }: Omit<EditorProps, 'secret'> & { onRebase(): void }) {
  const { error, isPending } = writing;
  if (isConflict(error))
    return <ConflictNotice base={editing.base} isPending={isPending} onRebase={onRebase} />;
  if (error !== undefined) return <ProblemNotice title="Nothing was written." error={error} />;
  return editing.contested && <Rebased contested={editing.contested} version={editing.base.version} />;
}

const Rebased = ({ contested, version }: { contested: readonly string[]; version: number | undefined }) => (
  <p className="notice" role="status">
    Your changes are now based on version {version}.{' '}
    {contested.length > 0 && `It has changed ${contested.join(', ')}, too: your values are kept. `}
    Check them, and write again.
  </p>
);
