import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useUnsavedInput } from '../../../session/unsaved-input.ts';

interface JsonObjectProps {
  /** What it is, such as “role”. */
  what: string;
  /** Below `/v1/`. */
  path: string;
  /** Shown if it does not exist yet. */
  example: string;
  /** Resolves with null if it does not exist. */
  read(): Promise<object | null>;
  write(fields: Record<string, unknown>): Promise<unknown>;
  /** Absent if it cannot be deleted here. */
  remove?: () => Promise<unknown>;
}

/** An object of the API that is read and written as JSON, if the token may. */
export function JsonObject(props: JsonObjectProps) {
  const { what, path, read } = props;
  const { may, known } = usePermissions([path]);
  const { data, error } = useQuery({
    queryKey: ['access', 'object', path],
    queryFn: read,
    enabled: may('read', path),
  });
  if (known && !may('read', path))
    return <NotAllowed what={`This token may not read the ${what}.`} capability="read" path={path} />;
  if (error) return <ProblemNotice title={`The ${what} could not be read.`} error={error} />;
  if (data === undefined) return <Loading what={`the ${what}`} />;
  return (
    <ObjectEditor
      {...props}
      saved={data}
      mayWrite={may(data === null ? 'create' : 'update', path)}
      mayDelete={data !== null && may('delete', path)}
    />
  );
}

interface ObjectEditorProps extends JsonObjectProps {
  saved: object | null;
  mayWrite: boolean;
  mayDelete: boolean;
}

function ObjectEditor(props: ObjectEditorProps) {
  const { what, example, saved, mayWrite, mayDelete, write, remove } = props;
  const [unchanged, setUnchanged] = useState(saved === null ? example : JSON.stringify(saved, undefined, 2));
  const [text, setText] = useState(unchanged);
  useUnsavedInput(text !== unchanged);
  const [asks, setAsks] = useState(false);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: async (written: string) => write(parsed(written)),
    onSuccess: (_, written) => {
      setUnchanged(written);
      return queries.invalidateQueries({ queryKey: ['access'] });
    },
  });
  return (
    <div className="stack">
      {saved === null && <p className="notice">There is none yet. This is an example.</p>}
      <CodeEditor
        label={`Fields of the ${what}`}
        language="json"
        value={text}
        isReadOnly={!mayWrite}
        onChange={setText}
      />
      {save.error && <SaveProblem what={what} error={save.error} />}
      {save.isSuccess && (
        <p className="notice notice-good" role="status">
          The {what} was saved.
        </p>
      )}
      <div className="row">
        {mayWrite && (
          <Button kind="primary" isPending={save.isPending} onPress={() => save.mutate(text)}>
            Save the {what}
          </Button>
        )}
        {mayDelete && remove && <Button onPress={() => setAsks(true)}>Delete the {what}</Button>}
      </div>
      {asks && remove && <DeleteDialog what={what} remove={remove} onClose={() => setAsks(false)} />}
    </div>
  );
}

function SaveProblem({ what, error }: { what: string; error: Error }) {
  if (!(error instanceof SyntaxError))
    return <ProblemNotice title={`The ${what} was not saved.`} error={error} />;
  return (
    <p className="field-error" role="alert">
      This is not a JSON object: {error.message}.
    </p>
  );
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SyntaxError('it is another value');
  return value as Record<string, unknown>;
}

function DeleteDialog({
  what,
  remove,
  onClose,
}: {
  what: string;
  remove(): Promise<unknown>;
  onClose(): void;
}) {
  const queries = useQueryClient();
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['access'] });
    },
  });
  return (
    <ConfirmDialog
      title={`Delete the ${what}?`}
      action="Delete"
      isDangerous
      {...runs(removal)}
      onCancel={onClose}
    >
      <p>Nobody can log in through it any more. Tokens that were issued remain valid until they expire.</p>
    </ConfirmDialog>
  );
}
