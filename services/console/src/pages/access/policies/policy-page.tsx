import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { CodeEditor } from '../../../components/code-editor/code-editor.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { forgetUnsavedInput, useUnsavedInput } from '../../../session/unsaved-input.ts';
import { AccessNav } from '../access-nav.tsx';

/** A policy, to read and, if the token may, to change. */
export function PolicyPage() {
  const [params] = useSearchParams();
  const name = params.get('name') ?? '';
  return (
    <>
      <AccessNav />
      <PageHeader title={name}>A policy, in HCL or JSON.</PageHeader>
      <Policy key={name} name={name} />
    </>
  );
}

function Policy({ name }: { name: string }) {
  const api = useApi();
  const path = `sys/policies/acl/${name}`;
  const { may, known } = usePermissions([path]);
  const { data, error } = useQuery({
    queryKey: ['access', 'policy', name],
    queryFn: async () => {
      const answer = await ifPresent(api.GET('/v1/sys/policies/acl/{name}', { params: { path: { name } } }));
      return answer === undefined ? null : dataOf(answer).policy;
    },
    enabled: may('read', path),
  });
  if (known && !may('read', path))
    return <NotAllowed what="This token may not read the policy." capability="read" path={path} />;
  if (error) return <ProblemNotice title="The policy could not be read." error={error} />;
  if (data === undefined) return <Loading what="the policy" />;
  return (
    <Editor
      name={name}
      saved={data}
      mayWrite={may(data === null ? 'create' : 'update', path)}
      mayDelete={data !== null && may('delete', path)}
    />
  );
}

const example = `path "secret/data/shop/*" {
  capabilities = ["read"]
}
`;

interface EditorProps {
  name: string;
  /** Null if it does not exist yet. */
  saved: string | null;
  mayWrite: boolean;
  mayDelete: boolean;
}

function Editor({ name, saved, mayWrite, mayDelete }: EditorProps) {
  const [text, setText] = useState(saved ?? example);
  const [asks, setAsks] = useState(false);
  useUnsavedInput(text !== (saved ?? example));
  const { save, remove } = useChanges(name, text);
  return (
    <div className="stack">
      {saved === null && <p className="notice">It does not exist yet. This is an example.</p>}
      <CodeEditor
        label={`Text of ${name}`}
        language="hcl"
        value={text}
        isReadOnly={!mayWrite}
        onChange={setText}
      />
      {save.error && <ProblemNotice title="The policy was not saved." error={save.error} />}
      {save.isSuccess && text === saved && (
        <p className="notice notice-good" role="status">
          Saved. It applies to every token that has this policy, at once.
        </p>
      )}
      <div className="row">
        {mayWrite && (
          <Button kind="primary" isPending={save.isPending} onPress={() => save.mutate()}>
            Save
          </Button>
        )}
        {mayDelete && <Button onPress={() => setAsks(true)}>Delete</Button>}
      </div>
      {asks && (
        <ConfirmDialog
          title={`Delete the policy ${name}?`}
          action="Delete"
          isDangerous
          {...runs(remove)}
          onCancel={() => setAsks(false)}
        >
          <p>Every token and role that has it loses at once what only this policy grants.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function useChanges(name: string, policy: string) {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const params = { path: { name } };
  const refresh = () => queries.invalidateQueries({ queryKey: ['access'] });
  const save = useMutation({
    mutationFn: () => api.POST('/v1/sys/policies/acl/{name}', { params, body: { policy } }),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/sys/policies/acl/{name}', { params }),
    onSuccess: async () => {
      await refresh();
      forgetUnsavedInput();
      navigate('/access/policies');
    },
  });
  return { save, remove };
}
